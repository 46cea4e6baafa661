import { describe, expect, it } from '@jest/globals';
import { compareVersions, CURRENT_VERSION, OLDEST_VERSION, parseVersion } from './version.js';

describe('versions', () => {
  it('are read from what the binaries print', () => {
    expect(parseVersion('nats-server: v2.15.2\n')).toBe('2.15.2');
    expect(parseVersion('nats-server: v2.12.0-RC.1')).toBe('2.12.0-RC.1');
    expect(parseVersion('something else')).toBeUndefined();
  });

  it('are ordered by number, a pre-release before its release', () => {
    const ordered = ['2.9.9', OLDEST_VERSION, '2.10.27', '2.15.0-RC.1', '2.15.0', CURRENT_VERSION, '3.0.0'];
    expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
    expect(compareVersions('2.15.2', '2.15.2')).toBe(0);
  });
});
