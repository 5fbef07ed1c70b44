/**
 * Raft messages as arrays: number of the type, from, to, term, then the fields of the type in the
 * order below. A newer release may append fields to a message; an older one ignores them. Append
 * messages and their responses have frames of their own (`fixed-frames.ts`).
 */
import type { Configuration, Message, SnapshotMeta } from '../raft/types.js';
import { bool, fields, id, int, list, text, tuple } from './shapes.js';
import { WireError } from './types.js';

/** A message that is sent as an array. */
export type PackedMessage = Exclude<Message, { readonly type: 'append' | 'appendResponse' }>;

/** Numbers of the types on the wire, never reused: version 1 of the protocol had 4 and 5. */
const NUMBERS = {
  preVote: 0,
  vote: 1,
  preVoteResponse: 2,
  voteResponse: 3,
  snapshot: 6,
  timeoutNow: 7,
} as const satisfies Record<PackedMessage['type'], number>;
const TYPES = new Map<number, PackedMessage['type']>(
  Object.entries(NUMBERS).map(([type, number]) => [number, type as PackedMessage['type']]),
);

/** Encodes a message. */
export const encodeMessage = (message: PackedMessage): unknown[] => [
  NUMBERS[message.type],
  message.from,
  message.to,
  message.term,
  ...fieldsOf(message),
];

function fieldsOf(message: PackedMessage): unknown[] {
  switch (message.type) {
    case 'preVote':
    case 'vote':
      return [message.lastIndex, message.lastTerm, message.transfer === true];
    case 'preVoteResponse':
    case 'voteResponse':
      return [message.granted];
    case 'snapshot':
      return [packMeta(message.meta), message.round];
    case 'timeoutNow':
      return [];
  }
}

/** The inverse of `encodeMessage`. Throws WireError for anything else. */
export function decodeMessage(items: readonly unknown[]): PackedMessage {
  const type = TYPES.get(int(items[0]));
  if (type === undefined) throw new WireError('protocol', `unknown message ${String(items[0])}`);
  const envelope = { from: id(items[1]), to: id(items[2]), term: int(items[3]) };
  const rest = items.slice(4);
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
    case 'snapshot': {
      const [meta, round] = fields(rest, 2);
      return { type, ...envelope, meta: unpackMeta(meta), round: int(round) };
    }
    case 'timeoutNow':
      return { type, ...envelope };
  }
}

/** The content of an entry that holds a configuration. */
export const packConfiguration = (configuration: Configuration): unknown[] =>
  configuration.members.map(({ id, name, address, voter, publicKey }) => [
    id,
    name,
    address,
    voter,
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
