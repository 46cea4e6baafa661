// The arrows between projects (run by `npm run arrows`). They point one way:
// apps -> log, model, tools, service -> session, agent -> events; nats-server and clock lie at the bottom.

/** Tests, and the helpers that several specs of one library share. Neither is built. */
const SPEC = '(\\.spec(-kit)?\\.ts$|/spec-kit/)';

/** Files of the given libraries. */
const libs = (...names) => `^libs/(${names.join('|')})/`;

/** A library that may import only the ones named (and itself). */
const layer = (name, allowed, comment) => ({
  name: `layer-${name}`,
  comment:
    comment ??
    `libs/${name} may import ${allowed.length > 0 ? allowed.map((lib) => `libs/${lib}`).join(', ') : 'nothing of ours'}`,
  severity: 'error',
  from: { path: libs(name), pathNot: SPEC },
  to: { path: '^(libs|apps|test)/', pathNot: libs(name, ...allowed) },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle cannot be understood, tested or replaced in parts; move what both need to a third file.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'libs-import-no-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-import-no-apps',
      comment: 'Apps talk over NATS. Only apps/all, the composition root, starts the others in its own process.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/all/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'testing-in-specs-only',
      comment:
        'Product code must not lean on test code. apps/all may: it runs the scripted model server when no model is configured.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: [SPEC, '^apps/all/', libs('testing')] },
      to: { path: libs('testing') },
    },
    {
      name: 'contract-in-specs-only',
      comment: 'The conformance suites are for specs.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: [SPEC, '^libs/[^/]+/src/contract/'] },
      to: { path: '^libs/[^/]+/src/contract/' },
    },
    {
      name: 'doors-only',
      comment: "A project is entered by its door (package name), never by a path into another project's files.",
      severity: 'error',
      from: { path: '^(libs|apps)/([^/]+)/' },
      to: { path: '^(libs|apps)/', pathNot: '^$1/$2/', dependencyTypesNot: ['aliased-workspace'] },
    },
    {
      name: 'jetstream-behind-the-log',
      comment:
        'libs/log is the only code that knows JetStream; tools and testing use its key-value store and test servers.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: [SPEC, libs('log', 'tools', 'testing', 'nats-server'), '/src/bench/'] },
      to: { path: 'node_modules/@nats-io/jetstream/' },
    },
    {
      name: 'pure-cores',
      comment: 'Vocabulary, session and agent are plain functions: no input or output, no framework.',
      severity: 'error',
      from: { path: libs('events', 'session', 'agent'), pathNot: SPEC },
      to: {
        path: ['^node_modules/(@nestjs|@nats-io|pino|rxjs)/', '^(node:)?(fs|net|http|https|child_process|timers)(/|$)'],
      },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere: a missing file, or a package that is not installed.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'layers-of-specs',
      comment: 'A spec of a library stays in its layer too, but may use the test tools and run a server.',
      severity: 'error',
      from: { path: libs('events', 'session', 'agent'), pathNot: `^(?!.*${SPEC})` },
      to: { path: libs('log', 'model', 'tools', 'service') },
    },
    {
      name: 'nats-server-in-tests-and-start',
      comment: 'A deployed service is given its server; only `npm start` (apps/all) and tests run one.',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: [SPEC, '^apps/all/', libs('testing', 'nats-server')] },
      to: { path: libs('nats-server') },
    },
    layer('clock', []),
    layer('nats-server', []),
    layer('events', []),
    layer('session', ['events']),
    layer('agent', ['events']),
    layer('log', ['events', 'session', 'agent', 'clock']),
    layer('model', ['events', 'session', 'agent', 'clock']),
    layer('tools', ['events', 'session', 'agent', 'clock']),
    layer('service', ['events', 'session', 'agent', 'clock']),
    layer('testing', ['clock', 'nats-server', 'events']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      // Workspace packages lead to their sources, not to what was built last.
      conditionNames: ['@longrein/source', 'import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
    skipAnalysisNotInRules: false,
  },
};
