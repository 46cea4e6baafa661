// Makes docs/configuration.md from the variables that the built apps declare. `npm run docs` writes it.
import { existsSync, readdirSync } from 'node:fs';

const ROOT = new URL('../apps/', import.meta.url);

const INTRO = `# Configuration

Each service is configured by environment variables alone. All of them are read once, at the start; a service that cannot
use what it finds prints every wrong variable and exits. An empty variable counts as unset.

\`npm start\` passes its environment to every service. It sets \`NATS_URL\`, \`LONGREIN_MODEL\` and \`LONGREIN_TOKENS\` where
they are unset, and opens one HTTP port, the gateway's. Only there:

| variable            | meaning                                                                              | default     |
| ------------------- | ------------------------------------------------------------------------------------ | ----------- |
| \`LONGREIN_DATA_DIR\` | the directory of its NATS server's streams and of its token; one process at a time | \`.longrein\` |

Tests read \`LONGREIN_TEST_NATS\`: see [development](development.md#nats-versions).
`;

const HEADER = '| variable | set it to | default |\n| --- | --- | --- |';

/** The page as Markdown, not formatted yet. */
export async function configReference() {
  const apps = await configurations();
  const lists = apps.map(({ variables }) => variables);
  const inAll = ({ name }) => lists.every((list) => list.some((variable) => variable.name === name));
  const [shared] = lists;
  const sections = apps.map(({ name, variables }) => {
    const own = variables.filter((variable) => variable.name === 'PORT' || !inAll(variable));
    return `## ${name}\n\nThose of every service, and:\n\n${table(own)}`;
  });
  const common = shared.filter((variable) => inAll(variable) && variable.name !== 'PORT');
  return [INTRO, `## Every service\n\n${table(common)}`, ...sections].join('\n\n');
}

/** Every app that has a configuration, in the order of their ports. */
async function configurations() {
  const names = readdirSync(ROOT).filter((name) => existsSync(new URL(`${name}/src/config.ts`, ROOT)));
  const apps = await Promise.all(names.map(configurationOf));
  return apps.sort((a, b) => portOf(a) - portOf(b));
}

async function configurationOf(name) {
  const door = await import(new URL(`${name}/dist/index.js`, ROOT).href);
  const definition = Object.values(door).find((exported) => Array.isArray(exported?.variables));
  if (!definition) throw new Error(`apps/${name} has a src/config.ts but its door exports no configuration`);
  return { name, variables: definition.variables };
}

function portOf({ variables }) {
  return variables.find(({ name }) => name === 'PORT')?.default ?? Infinity;
}

function table(variables) {
  const rows = variables.map(
    (variable) => `| \`${variable.name}\` | ${cell(meaning(variable))} | ${unset(variable)} |`,
  );
  return [HEADER, ...rows].join('\n');
}

function meaning({ description, secret }) {
  return secret ? `${description} (secret)` : description;
}

function unset({ required, default: value }) {
  if (required) return '**required**';
  if (value === undefined) return 'unset';
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text === '' ? 'none' : `\`${cell(text)}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('*', '\\*');
}
