import type { ChildProcess } from '@longrein/testing';
import type { Conversation } from './conversation.js';
import type { TurnDeployment } from './deployment.js';

/**
 * Kills the only replica in the middle of a turn while another waits: seconds until the log holds the `turn/resumed` of
 * the other one. Returns it with the replica that runs then.
 */
export async function takeover(
  deployment: TurnDeployment,
  owner: ChildProcess,
  conversation: Conversation,
): Promise<{ seconds: number; next: ChildProcess }> {
  const next = await deployment.loop();
  const called = conversation.next('tool/call');
  const turn = conversation.turn();
  await called;
  await owner.kill();
  const begin = performance.now();
  await conversation.next('turn/resumed');
  const seconds = (performance.now() - begin) / 1000;
  await turn;
  return { seconds, next };
}
