import { Command, InvalidArgumentError } from 'commander';
import { type CommonOptions, Context, type Io } from './commands/io.js';
import { cancel, create, inject, show, tailSession } from './commands/session-commands.js';
import { DEFAULT_URL } from './settings.js';

const HELP = `
Every command takes:
  --url <url>      the gateway; default LONGREIN_URL, else ${DEFAULT_URL}
  --token <token>  the bearer token; default LONGREIN_TOKEN, else what .longrein/token holds
  --json           print JSON (tail: one event a line)

Exit codes:
  0  done                      4  the token is missing, wrong, or not allowed to
  1  failed otherwise          5  the session does not exist
  2  wrong usage               6  --wait: the turn ended otherwise than completed
  3  gateway out of reach    130  ended by Ctrl-C
`;

/** The command line. Commands run inside `parseAsync`, which rejects with their errors. */
export function program(io: Io): Command {
  const root = quiet(new Command('longrein'), io)
    .description('talks to the agents of a Longrein system')
    .addHelpText('afterAll', HELP);
  const session = quiet(root.command('session'), io).description('sessions: the logs that agents live in');
  const command = (usage: string, description: string): Command =>
    quiet(session.command(usage), io)
      .description(description)
      .option('--url <url>', 'the gateway')
      .option('--token <token>', 'the bearer token')
      .option('--json', 'print JSON');

  command('create [id]', 'create a session, unless it exists').action(
    (id: string | undefined, options: CommonOptions) => within(io, options, (context) => create(context, id)),
  );
  command('show <id>', 'print the state of a session').action((id: string, options: CommonOptions) =>
    within(io, options, (context) => show(context, id)),
  );
  command('tail <id>', 'print the events of a session as they happen, until Ctrl-C')
    .option('--from <seq>', 'the first event wanted', seq, 0)
    .action((id: string, options: CommonOptions & { from: number }) =>
      within(io, options, (context) => tailSession(context, id, options.from)),
    );
  command('inject <id> <text>', 'say something to a session; creates it on first use')
    .option('--wake', 'start a turn if none is open', true)
    .option('--no-wake', 'wait for the next step of a turn that something else starts')
    .option('--input-id <input-id>', 'name the input: sent again under the same name it stays one input')
    .option('--wait', 'wait for the turn that takes the input to end, and print the answer')
    .action((id: string, text: string, options: CommonOptions & { wake: boolean; inputId?: string; wait?: boolean }) =>
      within(io, options, (context) => inject(context, id, text, options)),
    );
  command('cancel <id>', 'ask the open turn to stop at its next step')
    .option('--reason <reason>', 'why')
    .action((id: string, options: CommonOptions & { reason?: string }) =>
      within(io, options, (context) => cancel(context, id, options.reason)),
    );
  return root;
}

async function within(io: Io, options: CommonOptions, run: (context: Context) => Promise<void>): Promise<void> {
  await run(await Context.from(io, options));
}

/** Lets the caller decide how the process ends, and where the output goes. */
function quiet(command: Command, { out, err }: Io): Command {
  return command.exitOverride().configureOutput({ writeOut: out, writeErr: err });
}

function seq(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a seq: 0, 1, 2 ...');
  }
  return value;
}
