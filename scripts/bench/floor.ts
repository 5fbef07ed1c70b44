/**
 * The least that a Node process can do for this work, as a yardstick of machine and runtime. Three
 * of them replicate writes:
 *
 *     client ── node:http ──► any ──(forward)──► leader ──(append)──► followers
 *                              ▲                                          │ synced file on each
 *                              └───── answers once it has applied it ◄────┘ majority: commit
 *
 * The first one leads for ever. There are no terms, checksums, rights or recovery, and everything
 * is in memory. Arguments: the position (0 leads), the HTTP ports, the ports for members, the file.
 */
import { closeSync, constants, openSync, write, writeSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { connect, createServer as createListener, type Socket } from 'node:net';
import { FloorState } from './floor-state.js';

const FILE_BYTES = 64 * 2 ** 20;
const HOST = '127.0.0.1';
const LEADER = 0;
const FRAME = { hello: 0, forward: 1, append: 2, stored: 3 } as const;
const HEAD_BYTES = 5;

interface Entry {
  /** The position of the server that answers the write. */
  readonly origin: number;
  /** Its number there. */
  readonly request: number;
  readonly data: Buffer;
}

const [position, httpPorts, memberPorts, path] = [
  Number(process.argv[2]),
  process.argv[3]!.split(',').map(Number),
  process.argv[4]!.split(',').map(Number),
  process.argv[5]!,
];
const state = new FloorState();
const pending = new Map<number, ServerResponse>();
const peers = new Map<number, Socket>();
/** The last entry that each server has stored, and the last that was sent to it. */
const stored = memberPorts.map(() => 0);
const sent = memberPorts.map(() => 0);
const told = memberPorts.map(() => 0);
/** Entries from `base` on; those before are applied everywhere. */
let log: Entry[] = [];
let base = 1;
let commit = 0;
let applied = 0;
let requests = 0;
let forwards: Entry[] = [];
let unwritten: Entry[] = [];
let isWriting = false;
let isScheduled = false;
let fileAt = 0;

const file = openFile();
const last = (): number => base + log.length - 1;

/** A file of full size, so that a synced write changes no metadata. */
function openFile(): number {
  const made = openSync(path, 'w', 0o600);
  const zeros = Buffer.alloc(2 ** 20);
  for (let at = 0; at < FILE_BYTES; at += zeros.length) writeSync(made, zeros);
  closeSync(made);
  return openSync(path, constants.O_RDWR | constants.O_DSYNC);
}

/** What arrives in one turn of the event loop travels and is stored together. */
function soon(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    if (position === LEADER) lead();
    else if (forwards.length > 0) {
      peers.get(LEADER)?.write(frame(FRAME.forward, forwards.map(encode)));
      forwards = [];
    }
    store();
    apply();
  });
}

function lead(): void {
  for (const entry of forwards) append(entry);
  forwards = [];
  for (const [follower, socket] of peers) {
    if (sent[follower] === last() && told[follower] === commit) continue;
    const head = Buffer.allocUnsafe(8);
    head.writeUInt32BE(sent[follower]! + 1, 0);
    head.writeUInt32BE(commit, 4);
    const entries = log.slice(sent[follower]! + 1 - base).map(encode);
    socket.write(frame(FRAME.append, [head, ...entries]));
    sent[follower] = last();
    told[follower] = commit;
  }
}

function append(entry: Entry): void {
  log.push(entry);
  unwritten.push(entry);
}

function store(): void {
  if (isWriting || unwritten.length === 0) return;
  isWriting = true;
  const bytes = Buffer.concat(unwritten.map(encode));
  const upTo = last();
  unwritten = [];
  if (fileAt + bytes.length > FILE_BYTES) fileAt = 0;
  write(file, bytes, 0, bytes.length, fileAt, (error) => {
    if (error !== null) throw error;
    isWriting = false;
    if (position === LEADER) acknowledge(LEADER, upTo);
    else {
      const body = Buffer.allocUnsafe(4);
      body.writeUInt32BE(upTo);
      peers.get(LEADER)?.write(frame(FRAME.stored, [body]));
    }
    soon();
  });
  fileAt += bytes.length;
}

function acknowledge(from: number, upTo: number): void {
  stored[from] = upTo;
  const [, majority] = [...stored].sort((a, b) => a - b);
  commit = Math.max(commit, majority!);
  soon();
}

function apply(): void {
  for (; applied < Math.min(commit, last()); applied++) {
    const { origin, request, data } = log[applied + 1 - base]!;
    state.apply(data);
    if (origin !== position) continue;
    answer(pending.get(request)!, 'true');
    pending.delete(request);
  }
  // The leader keeps what it has not sent yet.
  const keepFrom = position === LEADER ? Math.min(applied, ...peerPositions(sent)) : applied;
  if (keepFrom - base < 10_000) return;
  log = log.slice(keepFrom - base);
  base = keepFrom;
}

const peerPositions = (of: readonly number[]): readonly number[] =>
  of.filter((_, at) => at !== LEADER);

function frame(type: number, parts: readonly Buffer[]): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(
    parts.reduce((sum, part) => sum + part.length, 1),
    0,
  );
  head[4] = type;
  return Buffer.concat([head, ...parts]);
}

function encode({ origin, request, data }: Entry): Buffer {
  const head = Buffer.allocUnsafe(9);
  head[0] = origin;
  head.writeUInt32BE(request, 1);
  head.writeUInt32BE(data.length, 5);
  return Buffer.concat([head, data]);
}

function* entriesIn(body: Buffer): Iterable<Entry> {
  for (let at = 0; at < body.length; ) {
    const end = at + 9 + body.readUInt32BE(at + 5);
    const data = body.subarray(at + 9, end);
    yield { origin: body[at]!, request: body.readUInt32BE(at + 1), data };
    at = end;
  }
}

function receive(socket: Socket): void {
  let from = LEADER;
  let rest: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const end = at + 4 + bytes.readUInt32BE(at);
      if (end > bytes.length) break;
      const body = bytes.subarray(at + HEAD_BYTES, end);
      if (bytes[at + 4] === FRAME.hello) {
        from = body[0]!;
        peers.set(from, socket);
      } else take(from, bytes[at + 4]!, body);
      at = end;
    }
    rest = bytes.subarray(at);
    soon();
  });
}

function take(from: number, type: number, body: Buffer): void {
  if (type === FRAME.forward) forwards.push(...entriesIn(body));
  else if (type === FRAME.stored) acknowledge(from, body.readUInt32BE(0));
  else {
    commit = body.readUInt32BE(4);
    for (const entry of entriesIn(body.subarray(8))) append(entry);
  }
}

const HEADERS = ['Content-Type', 'application/json', 'Vary', 'Accept-Encoding'];
function answer(response: ServerResponse, body: string): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(200, [...HEADERS, 'Content-Length', length]);
  response.end(body);
}

createServer((request, response) => {
  if (request.method === 'GET') {
    state.read(request.url!, (body) => answer(response, body));
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const data = Buffer.from(JSON.stringify(JSON.parse(body)));
    requests += 1;
    pending.set(requests, response);
    forwards.push({ origin: position, request: requests, data });
    soon();
  });
}).listen(httpPorts[position], HOST);
if (position === LEADER) createListener(receive).listen(memberPorts[LEADER], HOST);
else {
  const socket = connect(memberPorts[LEADER]!, HOST);
  peers.set(LEADER, socket);
  receive(socket);
  socket.write(frame(FRAME.hello, [Buffer.from([position])]));
}
process.on('disconnect', () => process.exit());
