import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FrameParser, pubAckOf } from './frames.js';

const STREAM = [
  'INFO {"server_id":"x"} \r\n',
  'CONNECT {"verbose":false}\r\n',
  'PUB a.b 5\r\nhello\r\n',
  'PUB a.b _INBOX.1 2\r\n\r\n\r\n',
  'HPUB a.b _INBOX.1 18 23\r\nNATS/1.0\r\nA: B\r\n\r\nhello\r\n',
  'SUB a.> 1\r\n',
  'MSG a.b 1 _INBOX.2 28\r\n{"stream":"S", "seq": 4711 }\r\n',
  'HMSG a.b 1 12 12\r\nNATS/1.0\r\n\r\n\r\n',
  'MSG a.b 1 0\r\n\r\n',
  'PING\r\n',
  "-ERR 'Stale Connection'\r\n",
];

describe('FrameParser', () => {
  const bytes = Buffer.from(STREAM.join(''));

  it('cuts the stream into the same whole frames however it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const parser = new FrameParser();
        const ends = [...cuts, bytes.length].sort((a, b) => a - b);
        let start = 0;
        const frames = ends.flatMap((end) => {
          const part = bytes.subarray(start, end);
          start = end;
          return parser.push(part);
        });
        expect(frames.map(({ raw }) => raw.toString())).toEqual(STREAM);
        expect(parser.pending).toBe(0);
      }),
    );
  });

  it('reads subject, reply, headers and body', () => {
    const frames = new FrameParser().push(bytes);
    expect(frames[2]).toMatchObject({ op: 'PUB', subject: 'a.b', payload: Buffer.from('hello') });
    expect(frames[2]?.reply).toBeUndefined();
    expect(frames[3]).toMatchObject({ op: 'PUB', reply: '_INBOX.1', payload: Buffer.from('\r\n') });
    expect(frames[4]).toMatchObject({ op: 'HPUB', reply: '_INBOX.1', headers: expect.stringContaining('A: B') });
    expect(frames[6]).toMatchObject({ op: 'MSG', subject: 'a.b', reply: '_INBOX.2' });
    expect(frames[7]).toMatchObject({ op: 'HMSG', headers: 'NATS/1.0\r\n\r\n', payload: Buffer.alloc(0) });
  });

  it('refuses sizes that are none', () => {
    expect(() => new FrameParser().push(Buffer.from('MSG a.b 1 many\r\n'))).toThrow(/MSG a\.b 1 many/);
    expect(() => new FrameParser().push(Buffer.from('HMSG a.b 1 9 3\r\n'))).toThrow(/HMSG/);
  });
});

describe('pubAckOf', () => {
  const message = (body: string) => new FrameParser().push(Buffer.from(`MSG _I 1 ${body.length}\r\n${body}\r\n`))[0]!;

  it('recognises an acknowledgement and nothing else', () => {
    expect(pubAckOf(message('{"stream":"S","seq":7}'))).toEqual({ stream: 'S', seq: 7 });
    expect(pubAckOf(message('{"stream":"S","seq":7,"duplicate":true}'))?.duplicate).toBe(true);
    expect(pubAckOf(message('{"error":{"code":400},"stream":"S","seq":0}'))).toBeUndefined();
    expect(pubAckOf(message('{"type":"io.nats.x","stream":"S","seq":7}'))).toBeUndefined();
    expect(pubAckOf(message('{"stream":"S", broken'))).toBeUndefined();
    expect(pubAckOf(new FrameParser().push(Buffer.from('PING\r\n'))[0]!)).toBeUndefined();
  });
});
