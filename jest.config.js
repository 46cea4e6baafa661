import { readFileSync } from 'node:fs';

// The build leaves specs out; jest compiles them by the same rules.
const {
  exclude: _specs,
  $schema: _schema,
  ...swc
} = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

/** One jest run for the whole workspace; `scripts/test.mjs` chooses levels by file suffix. */
export default {
  rootDir: '.',
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@longrein/source', 'node', 'import', 'default'] },
  testMatch: ['**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  testTimeout: 60_000,
  maxWorkers: 2,
};
