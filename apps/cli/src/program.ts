import { LEASE_SCOPES, type LeaseScope } from '@longrein/log/client';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { type CommonOptions, Context, type Io } from './commands/io.js';
import { listPartitions, quarantine, release } from './commands/operator-commands.js';
import { cancel, create, inject, show, tailSession } from './commands/session-commands.js';
import type { OperatorOptions } from './operator/deployment.js';
import { DEFAULT_URL } from './settings.js';

const HELP = `
Commands on sessions take:
  --url <url>      the gateway; default LONGREIN_URL, else ${DEFAULT_URL}
  --token <token>  the bearer token; default LONGREIN_TOKEN, else what .longrein/token holds
  --json           print JSON (tail: one event a line)

Commands of operators (partition ..., session quarantine) go past the gateway, to NATS itself:
  --nats <urls>    NATS servers; default NATS_URL, else nats://127.0.0.1:4222. Credentials come from NATS_CREDS,
                   NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_CA, as for the services
  --json           print JSON

Exit codes:
  0  done                      4  the token is missing, wrong, or not allowed to
  1  failed otherwise          5  the session does not exist
  2  wrong usage               6  --wait: the turn ended otherwise than completed
  3  out of reach            130  ended by Ctrl-C
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
    .option('--from <seq>', 'the first event wanted', number('a seq'), 0)
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
  operatorCommands(root, session, io);
  return root;
}

function operatorCommands(root: Command, session: Command, io: Io): void {
  const partition = quiet(root.command('partition'), io).description('who owns the partitions');
  const command = (parent: Command, usage: string, description: string): Command =>
    quiet(parent.command(usage), io)
      .description(description)
      .option('--nats <urls>', 'the NATS servers')
      .option('--json', 'print JSON');

  command(partition, 'list', 'print who has each partition, and under which epoch').action((options: OperatorOptions) =>
    listPartitions(io, options),
  );
  command(partition, 'release', 'make the replica that has a partition give it up')
    .addArgument(new Argument('<scope>', 'whose').choices(LEASE_SCOPES))
    .argument('<partition>', 'which, as `partition list` numbers them', number('a partition'))
    .action((scope: LeaseScope, which: number, options: OperatorOptions) => release(io, scope, which, options));
  command(session, 'quarantine <id>', 'keep loops away from a session that hurts them; its inputs queue')
    .option('--lift', 'let loops take it up again')
    .option('--reason <reason>', 'why')
    .action((id: string, options: OperatorOptions & { lift?: boolean; reason?: string }) =>
      quarantine(io, id, options),
    );
}

async function within(io: Io, options: CommonOptions, run: (context: Context) => Promise<void>): Promise<void> {
  await run(await Context.from(io, options));
}

/** Lets the caller decide how the process ends, and where the output goes. */
function quiet(command: Command, { out, err }: Io): Command {
  return command.exitOverride().configureOutput({ writeOut: out, writeErr: err });
}

/** A parser of whole numbers from 0. */
function number(what: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0) {
      throw new InvalidArgumentError(`It must be ${what}: 0, 1, 2 ...`);
    }
    return value;
  };
}
