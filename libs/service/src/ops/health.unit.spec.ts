import { describe, expect, it } from '@jest/globals';
import { Health } from './health.js';

describe('Health', () => {
  it('is ready when every check holds, and says which does not', () => {
    const health = new Health();
    let up = true;
    health.readyWhen('nats', () => (up ? { ok: true } : { ok: false, detail: 'down' }));
    expect(health.ready()).toEqual({ ok: true, checks: { nats: { ok: true } } });
    up = false;
    expect(health.ready()).toEqual({ ok: false, checks: { nats: { ok: false, detail: 'down' } } });
  });

  it('stays alive while it is not ready', () => {
    const health = new Health();
    health.readyWhen('nats', () => ({ ok: false }));
    expect(health.alive().ok).toBe(true);
  });

  it('is not ready once it is stopping', () => {
    const health = new Health();
    health.beginStop();
    expect(health.ready().ok).toBe(false);
    expect(health.alive().ok).toBe(true);
  });

  it('takes a check that throws for one that fails', () => {
    const health = new Health();
    health.aliveWhen('odd', () => {
      throw new Error('boom');
    });
    expect(health.alive()).toEqual({ ok: false, checks: { odd: { ok: false, detail: 'the check failed: boom' } } });
  });
});
