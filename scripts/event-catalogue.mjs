// Makes docs/events.md from the vocabulary of the built libs/events. `npm run docs` writes it.
import { allDefinitions } from '@longrein/events';
import { z } from 'zod';
import { EVENT_MEANINGS } from './event-meanings.mjs';

const INTRO = `# Events

Every event type the log takes, with who may append it and what it carries. The log refuses every other type, every other
service, and every payload that does not fit its schema. This page is made from \`libs/events/src/vocabulary\`.

An event is stored, replayed and sent to clients as one JSON envelope:

\`\`\`json
{
  "id": "input:4f1d",
  "session_id": "hello",
  "seq": 1,
  "at": "2026-01-31T09:26:53.123456Z",
  "type": "input/queued",
  "payload": { "input_id": "4f1d", "text": "Hello there", "wake": true },
  "v": 1
}
\`\`\`

- \`seq\`: place in the session, from 0, without gaps. \`at\`: UTC with microseconds. \`v\`: version of the payload's schema.
- \`id\`: unique within the session; the caller's \`event_id\`, else made by the log.
- \`batch\` (\`{id, index, count}\`): place in an append of several events. \`copied: true\`: copied from a fork's parent.
- An agent's events carry \`agent_id\` in place of \`session_id\`.

The **family** is the last part of the subject that a fact is stored under: \`sessions.<p>.<session_id>.fact.<family>\`. A
**chunk** is stored under \`sessions.<p>.<session_id>.chunk\`; it serves screens and replay, no fold needs it, and it may
expire. Types marked **model** enter the history that is sent to the model. **Content** is what scrubbers rewrite;
everything else in a payload is structure and is stored as it came. \`(deep)\`: the whole value, keys included.

In the tables, \`?\` marks a field that may be left out, \`id\` is 1-128 characters of \`A-Z a-z 0-9 _ -\`, and
\`provider/model\` is the name of a model.

Some services that the vocabulary names are not built yet: see the [README](../README.md#services).
`;

const TITLES = { sessions: 'Events of sessions', agents: 'Events of agents' };
const ABOUT = {
  sessions: 'In the streams `SESSIONS_<p>`. `partition/opened` and `owner/changed` are about the partition itself.',
  agents: 'In the streams `AGENTS_<p>`. The stream of the system id `$fleet` holds admissions and releases.',
};

/** Patterns that have a name. */
const NAMED = new Map([
  ['^[A-Za-z0-9_-]{1,128}$', 'id'],
  ['^[A-Za-z0-9_-]+\\/\\S+$', 'provider/model'],
]);

/** The page as Markdown, not formatted yet. Throws when a type has no meaning, or a meaning no type. */
export function eventCatalogue() {
  requireMeanings();
  const kinds = Object.keys(TITLES).map((kind) => {
    const definitions = allDefinitions(kind);
    const overview = definitions.map(
      ({ type, family, class: eventClass, by, modelVisible }) =>
        `| [\`${type}\`](#${anchor(type)}) | ${eventClass === 'chunk' ? '(chunk)' : family} | ${by.join(', ')} | ${modelVisible ? 'model' : ''} |`,
    );
    const head = '| type | family | appended by | |\n| --- | --- | --- | --- |';
    const details = definitions.filter(({ type }) => kind === 'sessions' || !isPartitions(type)).map(detail);
    return [`## ${TITLES[kind]}`, ABOUT[kind], [head, ...overview].join('\n'), ...details].join('\n\n');
  });
  return [INTRO, ...kinds].join('\n\n');
}

function requireMeanings() {
  const types = new Set(Object.keys(TITLES).flatMap((kind) => allDefinitions(kind).map(({ type }) => type)));
  const missing = [...types].filter((type) => !EVENT_MEANINGS[type]);
  const stale = Object.keys(EVENT_MEANINGS).filter((type) => !types.has(type));
  if (missing.length + stale.length === 0) return;
  throw new Error(`scripts/event-meanings.mjs lacks [${missing.join(', ')}] and knows unknown [${stale.join(', ')}]`);
}

/** Types that both kinds of streams hold are described once. */
const isPartitions = (type) => allDefinitions('sessions').some((definition) => definition.type === type);

/** The id of a type's heading. */
function anchor(type) {
  return type.replaceAll('/', '');
}

function detail({ type, v, schema, content }) {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const fields = Object.entries(json.properties ?? {});
  const required = new Set(json.required ?? []);
  const rows = fields.map(
    ([name, field]) =>
      `| \`${name}\`${required.has(name) ? '' : '?'} | ${cell(typeOf(field))} | ${contentOf(content[name])} |`,
  );
  const version = v === 1 ? '' : `Version ${v}.\n\n`;
  const table =
    rows.length > 0 ? ['| field | type | content |', '| --- | --- | --- |', ...rows].join('\n') : 'An empty payload.';
  return `### ${type}\n\n${EVENT_MEANINGS[type]}\n\n${version}${table}`;
}

/** A type as a reader of JSON writes it. */
function typeOf(field) {
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.enum) return field.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = field.anyOf ?? field.oneOf;
  if (choices) return choices.map(typeOf).join(' | ');
  if (field.type === 'array') return `[${typeOf(field.items ?? {})}]${limits(field, 'Items')}`;
  if (field.type === 'object') return objectType(field);
  if (field.type === 'string') return NAMED.get(field.pattern) ?? stringType(field);
  if (field.type === 'integer' || field.type === 'number') return `${field.type}${range(field)}`;
  return [field.type ?? 'any JSON'].flat().join(' | ');
}

function stringType(field) {
  return `string${limits(field, 'Length')}${field.pattern ? `, ${field.pattern}` : ''}`;
}

function objectType({ properties, required = [], additionalProperties, propertyNames }) {
  if (properties && Object.keys(properties).length > 0) {
    const fields = Object.entries(properties);
    return `{${fields.map(([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`).join('; ')}}`;
  }
  if (typeof additionalProperties === 'object') {
    return `{[${propertyNames?.enum?.join(' | ') ?? 'name'}]: ${typeOf(additionalProperties)}}`;
  }
  return '{}';
}

function limits(field, unit) {
  const [min, max] = [field[`min${unit}`] ?? 0, field[`max${unit}`]];
  if (max === undefined) return min > 0 ? ` (at least ${min})` : '';
  return min > 0 ? ` (${min} to ${max})` : ` (at most ${max})`;
}

function range({ minimum, exclusiveMinimum }) {
  if (exclusiveMinimum !== undefined) return ` > ${exclusiveMinimum}`;
  return minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? ` >= ${minimum}` : '';
}

/** Content positions below a field. */
function contentOf(shape) {
  if (shape === undefined) return '';
  if (shape === 'text') return 'text';
  if (shape === 'deep') return 'text (deep)';
  const inner = Array.isArray(shape) ? shape[0] : shape;
  if (typeof inner === 'string') return contentOf(inner);
  return Object.entries(inner)
    .map(([name, below]) => `\`${name}\`${below === 'deep' ? ' (deep)' : ''}`)
    .join(', ');
}

function cell(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}
