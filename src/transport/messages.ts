/**
 * Raft messages as arrays: number of the type, from, to, term, then the fields of the type in the
 * order below. A newer release may append fields to a message; an older one ignores them. Entries
 * are encoded in the blob, as [kind, term, content] each. Their indexes follow from `prevIndex`.
 */
import type { Configuration, Entry, Message, SnapshotMeta } from '../raft/types.js';
import { pack, unpack } from './codec.js';
import { bool, bytes, fields, id, int, list, optional, text, tuple } from './shapes.js';
import { WireError } from './types.js';

/** The position is the number on the wire: types may only be appended. */
const TYPES = [
  'preVote',
  'vote',
  'preVoteResponse',
  'voteResponse',
  'append',
  'appendResponse',
  'snapshot',
  'timeoutNow',
] as const satisfies readonly Message['type'][];
const NUMBERS = new Map<string, number>(TYPES.map((type, number) => [type, number]));
/** The position is the number on the wire. */
export const KINDS = [
  'command',
  'noop',
  'configuration',
] as const satisfies readonly Entry['kind'][];
const NOTHING = Buffer.alloc(0);
/** A release before 0.2 does not send how long its silence lasts. */
const NO_SILENCE = 0;

/** Encodes a message without its entries. */
export function encodeMessage(message: Message): unknown[] {
  const number = NUMBERS.get(message.type)!;
  return [number, message.from, message.to, message.term, ...fieldsOf(message)];
}

function fieldsOf(message: Message): unknown[] {
  switch (message.type) {
    case 'preVote':
    case 'vote':
      return [message.lastIndex, message.lastTerm, message.transfer === true];
    case 'preVoteResponse':
    case 'voteResponse':
      return [message.granted];
    case 'append':
      return [message.prevIndex, message.prevTerm, message.commit, message.round];
    case 'appendResponse':
      return [message.success, message.index, message.hintTerm, message.round, message.silenceMs];
    case 'snapshot':
      return [packMeta(message.meta), message.round];
    case 'timeoutNow':
      return [];
  }
}

/** The inverse of `encodeMessage` and `encodeEntries`. Throws WireError for anything else. */
export function decodeMessage(items: readonly unknown[], blob: Buffer): Message {
  const type = TYPES[int(items[0])];
  const envelope = { from: id(items[1]), to: id(items[2]), term: int(items[3]) };
  const rest = items.slice(4);
  if (type === undefined) throw new WireError('protocol', `unknown message ${String(items[0])}`);
  if (blob.length > 0 && type !== 'append') {
    throw new WireError('protocol', `a message of type ${type} with extra bytes`);
  }
  switch (type) {
    case 'preVote':
    case 'vote': {
      const [lastIndex, lastTerm, transfer] = fields(rest, 3);
      const position = { lastIndex: int(lastIndex), lastTerm: int(lastTerm) };
      return { type, ...envelope, ...position, ...(bool(transfer) ? { transfer: true } : {}) };
    }
    case 'preVoteResponse':
    case 'voteResponse':
      return { type, ...envelope, granted: bool(fields(rest, 1)[0]) };
    case 'append': {
      const [prevIndex, prevTerm, commit, round] = fields(rest, 4).slice(0, 4).map(int) as Four;
      const entries = decodeEntries(blob, prevIndex, prevTerm, envelope.term);
      return { type, ...envelope, prevIndex, prevTerm, entries, commit, round };
    }
    case 'appendResponse': {
      const [success, index, hintTerm, round, silenceMs] = fields(rest, 4);
      return {
        type,
        ...envelope,
        success: bool(success),
        index: int(index),
        hintTerm: int(hintTerm),
        round: int(round),
        silenceMs: optional(silenceMs, int) ?? NO_SILENCE,
      };
    }
    case 'snapshot': {
      const [meta, round] = fields(rest, 2);
      return { type, ...envelope, meta: unpackMeta(meta), round: int(round) };
    }
    case 'timeoutNow':
      return { type, ...envelope };
  }
}
type Four = [number, number, number, number];

/** Encodings that are kept: followers are at few different positions. */
const RECENT_MAX = 4;

/** The last encoded entries: followers at the same position get the same bytes. */
export class RecentEntries {
  readonly #recent: { first: Entry; last: Entry; count: number; blob: Buffer }[] = [];

  /** Returns the blob of a message: its entries, encoded once for all peers. */
  encode(message: Message, encode: (entries: readonly Entry[]) => Buffer): Buffer {
    if (message.type !== 'append' || message.entries.length === 0) return NOTHING;
    const { entries, prevIndex } = message;
    const first = entries[0]!;
    const last = entries.at(-1)!;
    const count = entries.length;
    // Entries of one log with the same first, last and count are the same entries.
    const known = this.#recent.find((one) => one.first === first && one.last === last);
    if (known?.count === count) return known.blob;
    for (let i = 0; i < count; i += 1) {
      const { index } = entries[i]!;
      if (index === prevIndex + 1 + i) continue;
      throw new RangeError(`entry ${index} stands where ${prevIndex + 1 + i} belongs`);
    }
    const blob = encode(entries);
    this.#recent.unshift({ first, last, count, blob });
    this.#recent.length = Math.min(this.#recent.length, RECENT_MAX);
    return blob;
  }
}

const recent = new RecentEntries();

/** Returns the blob of a message: its entries. */
export const encodeEntries = (message: Message): Buffer =>
  recent.encode(message, (entries) =>
    pack(entries.map((entry) => [KINDS.indexOf(entry.kind), entry.term, contentOf(entry)])),
  );

function contentOf(entry: Entry): unknown {
  if (entry.kind === 'command') return entry.data;
  return entry.kind === 'noop' ? null : packConfiguration(entry.configuration);
}

function decodeEntries(blob: Buffer, prevIndex: number, prevTerm: number, term: number): Entry[] {
  if (blob.length === 0) return [];
  let before = prevTerm;
  return list(unpack(blob)).map((packed, i) => {
    const [number, entryTerm, content] = tuple(packed, 3);
    const head = { index: prevIndex + 1 + i, term: int(entryTerm) };
    checkTerm(head, before, term);
    before = head.term;
    const kind = KINDS[int(number)];
    if (kind === 'command') return { kind, ...head, data: bytes(content) };
    if (kind === 'configuration') {
      return { kind, ...head, configuration: unpackConfiguration(content) };
    }
    if (kind === 'noop' && content === null) return { kind, ...head };
    throw new WireError('protocol', `entry ${head.index} of an unknown kind`);
  });
}

/**
 * Throws WireError unless the term of an entry is between that of the entry before it and that of
 * its message.
 */
export function checkTerm(
  { index, term }: { readonly index: number; readonly term: number },
  before: number,
  last: number,
): void {
  if (term >= before && term <= last) return;
  throw new WireError('protocol', `entry ${index} of term ${term} after ${before}`);
}

/** The content of an entry that holds a configuration. */
export const packConfiguration = (configuration: Configuration): unknown[] =>
  configuration.members.map(({ id, name, address, voter, publicKey }) => [
    ...[id, name, address, voter],
    ...(publicKey === undefined ? [] : [publicKey]),
  ]);

/** The inverse of `packConfiguration`. Throws WireError for anything else. */
export function unpackConfiguration(value: unknown): Configuration {
  const members = list(value).map((item) => {
    // The key is there from level 3 on, once it is known.
    const [member, name, address, voter, key] = tuple(item, list(item).length === 5 ? 5 : 4);
    return {
      id: id(member),
      name: text(name),
      address: text(address),
      voter: bool(voter),
      ...(key !== undefined && { publicKey: id(key) }),
    };
  });
  return { members };
}

const packMeta = ({ index, term, configuration }: SnapshotMeta): unknown[] => [
  index,
  term,
  packConfiguration(configuration),
];

function unpackMeta(value: unknown): SnapshotMeta {
  const [index, term, configuration] = tuple(value, 3);
  return { index: int(index), term: int(term), configuration: unpackConfiguration(configuration) };
}
