import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { loopConfig, startLoop } from '@longrein/loop-app';
import type { RunningService } from '@longrein/service';
import { ModelServer, saying } from '@longrein/testing';
import type { SocketClient } from '../../apps/gateway/src/socket-client.spec-kit.js';
import { GatewayRig } from './gateway-rig.js';

let rig: GatewayRig;
let model: ModelServer;
let loop: RunningService;
let url: string;

beforeAll(async () => {
  rig = await GatewayRig.start();
  model = await ModelServer.start();
  const { http: _, ...config } = loopConfig.parse({
    ...rig.environment,
    LONGREIN_MODEL: 'openai/scripted',
    LONGREIN_LEASE_TTL_MS: '1000',
    OPENAI_BASE_URL: model.openAiUrl,
  });
  loop = await startLoop(config);
  url = await rig.gateway();
});

afterEach(() => rig.disconnect());

afterAll(async () => {
  await loop?.stop();
  await model?.stop();
  await rig?.stop();
});

async function untilEnd(client: SocketClient): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  for (;;) {
    const event = await client.event();
    events.push(event);
    if (event.type === 'turn/end') return events;
  }
}

describe('turns that a socket wakes', () => {
  it('WSP-26 tells a failed one by its turn/end alone: the connection stays and wakes the next one', async () => {
    const client = await rig.open(url, 'unlucky');
    client.send({ type: 'subscribe', from_seq: 0 });
    model.enqueue({ fail: { status: 400, message: 'no such model' } });
    client.send({ type: 'inject', text: 'hello', wake: true });
    expect((await untilEnd(client)).at(-1)).toMatchObject({ payload: { status: 'failed' } });
    expect(await client.settled()).toEqual([]);
    model.enqueue(saying('Here I am.'));
    client.send({ type: 'inject', text: 'again', wake: true });
    expect((await untilEnd(client)).at(-1)).toMatchObject({ payload: { status: 'completed' } });
  });

  it('WSP-32 asks the model that was set, from the next step on; a wrong one changes nothing', async () => {
    const client = await rig.open(url, 'choosy');
    client.send({ type: 'subscribe', from_seq: 0 });
    await client.event();
    for (const spec of ['openai', 'openai/', '/other', 'openai/with blank']) {
      client.send({ type: 'set_model', role: 'main', model: spec });
      expect(await client.next()).toMatchObject({ code: 'bad_frame' });
    }
    const asked = (): string => String(model.requests.at(-1)!.view?.model);
    model.enqueue(saying('One.'), saying('Two.'));
    client.send({ type: 'inject', text: 'one', wake: true });
    await untilEnd(client);
    expect(asked()).toBe('scripted');
    client.send({ type: 'set_model', role: 'main', model: 'openai/other/model' });
    client.send({ type: 'inject', text: 'two', wake: true });
    const steps = (await untilEnd(client)).filter(({ type }) => type === 'step/start');
    expect(steps.map(({ payload }) => payload)).toMatchObject([{ model: 'openai/other/model' }]);
    expect(asked()).toBe('other/model');
  });
});
