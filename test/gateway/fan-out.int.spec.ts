import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NatsFrame, TcpProxy } from '@longrein/testing';
import { EventStreamClient } from './event-stream-client.js';
import { GatewayRig, TOKENS } from './gateway-rig.js';

let rig: GatewayRig;
let proxy: TcpProxy;

beforeAll(async () => {
  rig = await GatewayRig.start();
  proxy = await TcpProxy.start({ target: rig.deployment.nats.port });
});

afterAll(async () => {
  await rig?.stop();
  await proxy?.stop();
});

describe('many clients of few sessions', () => {
  it('costs NATS one subscription a session and process, and one delivery an event', async () => {
    const subscribed: string[] = [];
    const delivered: string[] = [];
    // Loses nothing: it only looks.
    const watch = (into: string[], op: NatsFrame['op'][]) => (frame: NatsFrame) => {
      if (op.includes(frame.op) && frame.subject?.startsWith('live.')) into.push(frame.subject);
      return false;
    };
    proxy.drop('up', watch(subscribed, ['SUB']));
    proxy.drop('down', watch(delivered, ['MSG', 'HMSG']));
    const url = await rig.gateway({ NATS_URL: proxy.url });
    const sessions = ['fan-1', 'fan-2', 'fan-3'];
    const ends: (() => void)[] = [];
    for (const session of sessions) {
      await rig.worker.create(session);
      const sockets = [await rig.open(url, session)];
      for (let i = 0; i < 8; i++) sockets.push(await rig.open(url, session, TOKENS.reader));
      const streams: EventStreamClient[] = [];
      for (let i = 0; i < 6; i++) {
        const headers = { authorization: `Bearer ${TOKENS.reader}` };
        streams.push(await EventStreamClient.open(`${url}/sessions/${session}/stream`, headers));
      }
      for (const socket of sockets) socket.send({ type: 'subscribe', from_seq: 0 });
      // The tail has been reached when an event of it has come.
      const first = await rig.chunks(session, 1);
      for (const client of [...sockets, ...streams]) await client.eventsTo(first);
      delivered.length = 0;
      const end = await rig.chunks(session, 40);
      for (const client of [...sockets, ...streams]) {
        expect((await client.eventsTo(end)).map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, i) => i + 2));
      }
      expect(delivered).toHaveLength(40);
      ends.push(() => streams.forEach((stream) => stream.close()));
    }
    expect(subscribed.map((subject) => sessions.find((id) => subject.includes(`.${id}.`)))).toEqual(sessions);
    expect(new Set(subscribed).size).toBe(3);
    for (const end of ends) end();
  });
});
