import { type Family, eventSubject, streamName } from '@longrein/events';
import { createInbox } from '@nats-io/nats-core';
import type { LogDeployment } from './deployment.js';
import { BUSY } from './deployment.js';
import { WINDOW, inLanes } from './writers.js';

const STREAM = 'PLAIN';
const FAMILY: Family = 'input';

/** Plain JetStream publishes into a stream made like the log's own, under subjects of the same layout. */
export class PlainStream {
  private constructor(private readonly deployment: LogDeployment) {}

  static async create(deployment: LogDeployment): Promise<PlainStream> {
    const { jsm } = deployment;
    const { config } = await jsm.streams.info(streamName('sessions', BUSY));
    const subjects = 'plain.0.>';
    await jsm.streams.add({
      name: STREAM,
      subjects: [subjects],
      storage: config.storage,
      retention: config.retention,
      discard: config.discard,
      num_replicas: config.num_replicas,
      duplicate_window: config.duplicate_window,
      max_msg_size: config.max_msg_size,
      allow_direct: config.allow_direct,
      republish: { src: subjects, dest: `live.${subjects}` },
    });
    return new PlainStream(deployment);
  }

  /** The subject of a session's event, as the log forms it. */
  subject(id: string): string {
    return eventSubject('sessions', 0, id, 'fact', FAMILY).replace(/^sessions\./, 'plain.');
  }

  /** One publish, acknowledged. */
  publish(subject: string, body: string): Promise<unknown> {
    return this.deployment.js.publish(subject, body);
  }

  /** Publishes a second, pipelined. */
  async rate(ids: readonly string[], body: string, messages: number): Promise<number> {
    const subjects = ids.map((id) => this.subject(id));
    const begin = performance.now();
    await inLanes(WINDOW, messages, (n) => this.publish(subjects[n % subjects.length]!, body));
    return (messages * 1000) / (performance.now() - begin);
  }

  /**
   * The same without the library's request: no promise, timer or error object per publish, one inbox for all
   * acknowledgements. As fast as one connection gets, and what the log service itself does towards JetStream.
   */
  async bareRate(ids: readonly string[], body: string, messages: number): Promise<number> {
    const { nc } = this.deployment;
    const subjects = ids.map((id) => this.subject(id));
    const inbox = createInbox();
    let sent = 0;
    let stored = 0;
    const done = Promise.withResolvers<void>();
    const publish = (): void => nc.publish(subjects[sent++ % subjects.length]!, body, { reply: inbox });
    const acks = nc.subscribe(inbox, {
      callback: (_, msg) => {
        const { seq, error } = msg.json<{ seq?: number; error?: { description: string } }>();
        if (seq === undefined) return done.reject(new Error(`not stored: ${error?.description ?? 'no answer'}`));
        stored++;
        if (sent < messages) publish();
        if (stored === messages) done.resolve();
      },
    });
    const begin = performance.now();
    while (sent < Math.min(WINDOW, messages)) publish();
    try {
      await done.promise;
      return (messages * 1000) / (performance.now() - begin);
    } finally {
      acks.unsubscribe();
    }
  }
}
