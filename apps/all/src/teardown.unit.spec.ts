import { describe, expect, it } from '@jest/globals';
import { Teardown } from './teardown.js';

describe('Teardown', () => {
  it('undoes in reverse order, once, however often it is asked', async () => {
    const teardown = new Teardown();
    const undone: string[] = [];
    for (const name of ['server', 'service']) teardown.add(() => Promise.resolve(undone.push(name)));
    await Promise.all([teardown.run(), teardown.run()]);
    expect(undone).toEqual(['service', 'server']);
  });

  it('goes on after a failure and then reports it', async () => {
    const teardown = new Teardown();
    let undone = false;
    teardown.add(() => Promise.resolve((undone = true)));
    teardown.add(() => Promise.reject(new Error('stuck')));
    await expect(teardown.run()).rejects.toThrow('stuck');
    expect(undone).toBe(true);
  });

  it('undoes at once what is done after the end', async () => {
    const teardown = new Teardown();
    await teardown.run();
    let undone = false;
    teardown.add(() => Promise.resolve((undone = true)));
    await teardown.run();
    expect(undone).toBe(true);
  });
});
