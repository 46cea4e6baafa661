/** The test runner's hooks, taken from the globals: this library is loaded outside of tests too (scripted model). */
export interface Hooks {
  beforeAll(run: () => unknown): void;
  afterAll(run: () => unknown): void;
  afterEach(run: () => unknown): void;
}

/** The hooks of the running test file. */
export function hooks(): Hooks {
  const runner = globalThis as unknown as Partial<Hooks>;
  if (!runner.beforeAll || !runner.afterAll || !runner.afterEach) {
    throw new Error('this helper registers test hooks: call it in a spec, at the top or inside a describe block');
  }
  return runner as Hooks;
}
