/** Decisions that a client asks for one behind the other, before it has read any. */
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../../cluster/checker/random.js';
import { Decider } from './decider.js';

/** What a response must have. */
interface Expected {
  readonly id: string;
  /** The ids of the resources in the order of the answers, none of an answer that allows. */
  readonly denied: readonly string[];
}

interface Asked extends Expected {
  readonly bytes: string;
}

/** Reads the responses of one connection. */
class Responses {
  /** The whole ones. */
  readonly found: { readonly id: string; readonly body: string }[] = [];
  /** Bytes that have come. */
  length = 0;
  #rest = Buffer.alloc(0);

  constructor(socket: Socket) {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.length += chunk.length;
      this.#rest = Buffer.concat([this.#rest, chunk]);
      while (this.#take());
    });
  }

  /** Whether all bytes are part of whole responses. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  #take(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = this.#rest.subarray(0, end).toString('latin1');
    const body = end + 4;
    const next = body + Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    if (this.#rest.length < next) return false;
    const id = /^HTTP\/1\.1 200 OK\r\n.*^x-request-id: ([^\r]*)/ims.exec(head)?.[1] ?? head;
    this.found.push({ id, body: this.#rest.subarray(body, next).toString('utf8') });
    this.#rest = this.#rest.subarray(next);
    return true;
  }
}

describe('decisions that are asked for one behind the other', function () {
  this.timeout(60_000);
  let decider: Decider;
  let secret: string;
  const sockets: Socket[] = [];
  before(async () => {
    decider = await Decider.open();
    secret = (await decider.token('service_prefix "ok-" { policy = "write" }')).SecretID;
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(() => decider.close());

  const open = (): Socket => {
    const socket = connect(decider.client.listener.port, '127.0.0.1');
    sockets.push(socket);
    return socket;
  };
  const until = async (met: () => boolean): Promise<void> => {
    while (!met()) await nextTurn();
  };

  /** A request about resources that are in no other one, some with names that are not ASCII. */
  const asked = (id: string, isAllowed: readonly boolean[], length = 0): Asked => {
    const ids = isAllowed.map((isOk, at) => `${isOk ? 'ok' : 'nö'}-${id}-${at}`);
    const longs = ids.map((one) => one.padEnd(length, '.'));
    const resources = longs.map((one) => ({ resource: { type: 'service', id: one } }));
    const about = { subject: { type: 'token', id: 'self' }, action: { name: 'write' } };
    const [first] = resources;
    const path = resources.length === 1 ? 'evaluation' : 'evaluations';
    const more = resources.length === 1 ? first : { evaluations: resources };
    const body = JSON.stringify({ ...about, ...more });
    const head =
      `POST /access/v1/${path} HTTP/1.1\r\nHost: x\r\nX-Service-Token: ${secret}\r\n` +
      `X-Request-ID: ${id}\r\nContent-Type: application/json\r\n`;
    const bytes = `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return { bytes, id, denied: ids.filter((_, at) => !isAllowed[at]) };
  };

  /** Requests by chance: most are decided at once, denials and batches take longer. */
  const some = (random: Random, name: string, count: number): Asked[] =>
    Array.from({ length: count }, (_, n) => {
      const items = random.chance(0.1) ? 2 + random.int(62) : 1;
      const isAllowed = Array.from({ length: items }, () => random.chance(0.7));
      return asked(`${name}-${n}`, isAllowed);
    });
  const bytesOf = (some: readonly Asked[]): string => some.map(({ bytes }) => bytes).join('');

  /** The resources that an answer says are denied. */
  const deniedIn = (body: string): string[] =>
    [...body.matchAll(/You may not write service ([^\s.]+)\./g)].map(([, id]) => id!);
  const seen = (responses: Responses): Expected[] =>
    responses.found.map(({ id, body }) => {
      JSON.parse(body);
      return { id, denied: deniedIn(body) };
    });
  const expected = (some: readonly Asked[]): Expected[] =>
    some.map(({ id, denied }) => ({ id, denied }));

  for (const seed of [1, 2])
    it(`are answered in order, each to who asked, byte for byte (seed ${seed})`, async () => {
      const random = new Random(seed);
      const clients = Array.from({ length: 4 }, (_, n) => {
        const socket = open();
        return { socket, sent: some(random, `c${n}`, 60), responses: new Responses(socket) };
      });
      // One leaves while its requests are answered, one reads when the others have got everything.
      const leaving = open();
      const left = new Responses(leaving);
      const slow = open();
      slow.pause();
      // More than the kernel keeps for a client that does not read.
      const large = Array.from({ length: 24 }, (_, n) => {
        return asked(`large-${n}`, Array(256).fill(false), 200);
      });
      const late = [...some(random, 'slow', 20), ...large, ...some(random, 'end', 20)];
      const read = new Responses(slow);
      slow.pause();
      slow.write(bytesOf(late));
      leaving.write(bytesOf(some(random, 'leaving', 300)));
      for (const { socket, sent } of clients) {
        // In pieces that end anywhere.
        const bytes = Buffer.from(bytesOf(sent));
        for (let at = 0; at < bytes.length; ) {
          const end = at + 1 + random.int(20_000);
          socket.write(bytes.subarray(at, end));
          at = end;
        }
      }
      await until(() => left.length > 0);
      leaving.destroy();
      for (const { sent, responses } of clients) {
        await until(() => responses.found.length >= sent.length && responses.isWhole);
        expect(seen(responses)).to.deep.equal(expected(sent));
      }
      expect(read.length).to.equal(0);
      // A little at a time, at first.
      for (let n = 0; n < 20; n++) {
        slow.resume();
        await nextTurn();
        slow.pause();
        await nextTurn();
      }
      slow.resume();
      await until(() => read.found.length >= late.length && read.isWhole);
      expect(seen(read)).to.deep.equal(expected(late));
      expect(read.length).to.be.greaterThan(2_500_000);
    });
});
