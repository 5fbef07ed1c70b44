/**
 * Shots at the members' port: from outsiders, from holders of a wrong key, and from members that
 * misbehave.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { Random } from '../../cluster/checker/random.js';
import type { KeyPair } from '../../src/base/peer-record.js';
import type { LocalCluster } from '../../src/dev/local.js';
import { readIdentity } from '../../src/node/identity.js';
import type { Identity } from '../../src/replica/members/identity.js';
import { encodeRequest } from '../../src/replica/rpc-codec.js';
import { FrameReader } from '../../src/transport/frame-reader.js';
import {
  decodeFrame,
  encodeFrame,
  type Frame,
  type Hello,
  PROTOCOL_VERSION,
  PURPOSES,
  type Purpose,
} from '../../src/transport/frames.js';
import { bindingOf, newKeyPair, type Proven, prove } from '../../src/transport/proof.js';
import { type SocketMaker, socketMaker } from '../../src/transport/security.js';
import { damaged, goodFrame, isOrder, joinRequest } from './frames.js';
import { noise } from './raw-shots.js';
import type { Sent } from './report.js';

const STAY_MS = 400;
const GREET_MS = 10_000;
const FRAME_BYTES = 2 ** 24;
/** Silent connections opened at once: more than unauthenticated peers may have. */
const CROWD = 160;

export class MemberShots {
  readonly counts: Record<string, number> = {};
  readonly #ports: readonly number[];
  readonly #right: SocketMaker;
  readonly #wrong: SocketMaker = socketMaker({
    mode: 'key',
    keys: [randomBytes(32).toString('base64')],
  });
  readonly #identities: readonly Identity[];
  readonly #random: Random;
  readonly #open = new Set<Socket>();

  static async of(cluster: LocalCluster, random: Random): Promise<MemberShots> {
    const identities = cluster.nodes.map(async ({ entry }) => (await readIdentity(entry.dataDir))!);
    const key = readFileSync(join(cluster.dir, 'shared.key'), 'utf8').trim();
    const ports = cluster.nodes.map(({ entry }) => Number(entry.raft.split(':')[1]));
    return new MemberShots(ports, key, await Promise.all(identities), random);
  }

  constructor(
    ports: readonly number[],
    key: string,
    identities: readonly Identity[],
    random: Random,
  ) {
    this.#ports = ports;
    this.#right = socketMaker({ mode: 'key', keys: [key] });
    this.#identities = identities;
    this.#random = random;
  }

  /** Opens one connection, or many at once. Resolves once they have ended. */
  async next(): Promise<Sent> {
    const random = this.#random;
    const node = random.int(this.#ports.length);
    const draw = random.next();
    if (draw < 0.15) return this.#garbage(node);
    if (draw < 0.2) return this.#silent(node, random.chance(0.1) ? CROWD : 3);
    if (draw < 0.3) return this.#framed(node, 'wrong key');
    return this.#framed(node, 'right key');
  }

  /**
   * Talks to each node as a member would. Reports the nodes that do not respond, because later
   * shots at them would prove nothing.
   */
  async greet(): Promise<string[]> {
    const problems = this.#ports.map((_, node) => {
      const { hello, prove } = this.#hello(node, true, 'messages');
      const bytes = [
        bytesOf({ type: 'hello', hello }),
        bytesOf({ type: 'ping' }),
        bytesOf({ type: 'request', id: 1, payload: encodeRequest({ type: 'status' }) }),
      ];
      return this.#answersOf(node, { bytes: Buffer.concat(bytes), prove });
    });
    return (await Promise.all(problems)).flat();
  }

  /** Sends bytes, awaits a response of each type in any order, and reports missing ones. */
  #answersOf(
    node: number,
    { bytes, prove }: { readonly bytes: Buffer; readonly prove: Prove },
  ): Promise<string[]> {
    const missing = new Set(['hello', 'pong', 'reply']);
    const address = { host: '127.0.0.1', port: this.#ports[node]! };
    const socket: Socket = this.#right.dial(address, () => {
      prove(socket, [bytes]);
      socket.write(bytes);
    });
    this.#track(socket);
    const reader = new FrameReader(FRAME_BYTES);
    socket.on('data', (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) missing.delete(decodeFrame(frame).type);
      if (missing.size === 0) socket.destroy();
    });
    return ended(socket, GREET_MS).then(() =>
      [...missing].map((type) => `the members' port ${address.port} gives no ${type}`),
    );
  }

  async close(): Promise<void> {
    const gone = [...this.#open].map((socket) => new Promise((done) => socket.once('close', done)));
    for (const socket of this.#open) socket.destroy();
    await Promise.all(gone);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Sends bytes that are not TLS, or only its beginning. */
  async #garbage(node: number): Promise<Sent> {
    const random = this.#random;
    const record = Buffer.from([22, 3, random.int(5), random.int(3), random.int(256), 1, 0, 0]);
    const begun = Buffer.concat([record, noise(random, random.int(600))]);
    const bytes = random.chance(0.5) ? noise(random, 1 + random.int(2000)) : begun;
    const socket = this.#track(this.#plain(node));
    socket.once('connect', () => socket.write(bytes));
    this.#count('garbage');
    await ended(socket, STAY_MS);
    return { label: 'members: garbage', node, bytes };
  }

  async #silent(node: number, count: number): Promise<Sent> {
    const all = Array.from({ length: count }, () => this.#track(this.#plain(node)));
    this.#count(count > 10 ? 'crowd' : 'silent');
    await Promise.all(all.map((socket) => ended(socket, STAY_MS)));
    return { label: `members: ${count} silent`, node, bytes: Buffer.alloc(0) };
  }

  #plain(node: number): Socket {
    return connect({ host: '127.0.0.1', port: this.#ports[node]! });
  }

  /** Opens a TLS connection and sends frames. */
  async #framed(node: number, key: 'right key' | 'wrong key'): Promise<Sent> {
    const maker = key === 'right key' ? this.#right : this.#wrong;
    const { label, stream, prove } = this.#conversation(node);
    const bytes = Buffer.concat(stream);
    const shot = { label: `members: ${key}, ${label}`, node, bytes };
    const address = { host: '127.0.0.1', port: this.#ports[node]! };
    const socket: Socket = maker.dial(address, () => {
      this.#count(`${key}: let in`);
      prove(socket, stream);
      for (const part of stream) socket.write(part);
      if (this.#random.chance(0.3)) socket.end();
    });
    this.#track(socket);
    const reader = new FrameReader(FRAME_BYTES);
    socket.on('data', (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) this.#count(`answered: ${decodeFrame(frame).type}`);
    });
    this.#count(key);
    await ended(socket, STAY_MS);
    return shot;
  }

  /** Returns a hello and some frames, mostly damaged, but no request that a member must obey. */
  #conversation(node: number): { label: string; stream: Buffer[]; prove: Prove } {
    const random = this.#random;
    const isMember = random.chance(0.5);
    const purpose = random.pick(PURPOSES);
    const { hello, prove } = this.#hello(node, isMember, purpose);
    const to = this.#identities[node]!.nodeId;
    const frames = Array.from({ length: 1 + random.int(5) }, () =>
      purpose === 'join' ? joinFrame(hello.nodeId, random) : goodFrame(hello.nodeId, to, random),
    );
    const greeting = bytesOf({ type: 'hello', hello });
    const draw = random.next();
    const label = `${isMember ? 'a member' : 'an outsider'} for ${purpose}`;
    if (draw < 0.35) return { label, stream: [greeting, ...frames], prove };
    const stream =
      draw < 0.8 ? [greeting, ...damaged(frames, random)] : damaged([greeting, ...frames], random);
    if (!isOrder(Buffer.concat(stream))) return { label: `${label}, damaged`, stream, prove };
    this.#count('orders not sent');
    return { label, stream: [greeting], prove };
  }

  #hello(node: number, isMember: boolean, purpose: Purpose): { hello: Hello; prove: Prove } {
    const random = this.#random;
    const own = this.#identities[node]!;
    const other = this.#identities[(node + 1 + random.int(2)) % this.#identities.length]!;
    const outsider = {
      nodeId: randomUUID(),
      incarnation: 'i',
      starts: 1,
      startId: 's',
      earlier: [],
    };
    const { nodeId, incarnation, starts, startId, earlier } = isMember ? other : outsider;
    const keyPair = isMember ? other.keyPair! : newKeyPair();
    const { publicKey } = keyPair;
    const prove = proofOf(keyPair, { nodeId, purpose });
    const hello: Hello = {
      version: PROTOCOL_VERSION,
      oldestVersion: 1,
      clusterId: own.clusterId ?? '',
      nodeId,
      incarnation,
      starts,
      startId,
      earlier,
      purpose,
      address: '127.0.0.1:1',
      target: random.pick(['', own.nodeId]),
      publicKey,
      proof: NO_PROOF,
    };
    if (isMember || random.chance(0.7)) return { hello, prove };
    const wrong = {
      ...hello,
      ...random.pick<Partial<Hello>>([
        { version: 0 },
        { version: 99, oldestVersion: 98 },
        { clusterId: '' },
        { clusterId: 'another' },
        { nodeId: own.nodeId },
        { target: 'another' },
        { address: '' },
        { address: 'x'.repeat(1000) },
        { earlier: Array(500).fill('s') },
        { starts: Number.MAX_SAFE_INTEGER },
        { publicKey: '' },
        { publicKey: 'x'.repeat(1000) },
        { proof: '' },
        { proof: 'x'.repeat(1000) },
      ]),
    };
    return { hello: wrong, prove };
  }

  #track(socket: Socket): Socket {
    this.#open.add(socket);
    // A member closes the connection after most of them.
    socket.on('error', () => {}).on('close', () => this.#open.delete(socket));
    return socket;
  }
}

/** Stands for a proof until there is a connection that it can be bound to. */
const NO_PROOF = 'A'.repeat(86);

/** Puts the proof for a connection into what is about to be sent on it. */
type Prove = (socket: Socket, stream: readonly Buffer[]) => void;

const proofOf =
  (keyPair: KeyPair, who: Pick<Proven, 'nodeId' | 'purpose'>): Prove =>
  (socket, stream) => {
    const binding = bindingOf(socket as TLSSocket)!;
    const proof = prove(keyPair, { ...who, binding, side: 'dialling' });
    for (const part of stream) {
      const at = part.indexOf(NO_PROOF);
      if (at >= 0) part.write(proof, at);
    }
  };

const bytesOf = (frame: Frame): Buffer => Buffer.concat(encodeFrame(frame));

const joinFrame = (id: string, random: Random): Buffer =>
  bytesOf({ type: 'request', id: random.pick([1, 1, 1, 2]), payload: joinRequest(id, random) });

/** Resolves once the socket is closed. Destroys it after `afterMs`. */
function ended(socket: Socket, afterMs: number): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(() => socket.destroy(), afterMs);
    socket.once('close', () => {
      clearTimeout(timer);
      done();
    });
  });
}
