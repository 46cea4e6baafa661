import { describe, expect, it } from '@jest/globals';
import { NodeTooOld, requireNode } from './node-version.js';

describe('requireNode', () => {
  it('takes the version that runs the tests, and newer ones', () => {
    expect(() => requireNode()).not.toThrow();
    expect(() => requireNode('26.0.0')).not.toThrow();
  });

  it('says what runs, what is needed and how to get it', () => {
    expect(() => requireNode('20.20.2')).toThrow(NodeTooOld);
    expect(() => requireNode('20.20.2')).toThrow(/needs Node 24 or newer, and runs on 20\.20\.2; .*npx node/);
  });
});
