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
  transform: { '^.+\\.ts$': ['@swc/jest', { configFile: './.swcrc', exclude: [] }] },
  testTimeout: 60_000,
  maxWorkers: 2,
};
