/** Deliberate faults of the wire and of the transfers over it, for `mutations.ts`. */
import { type Change, type Mutation, one, unit } from './mutation.js';

/** They show over sockets alone. */
const overSockets = (mutation: Mutation): Mutation => ({ ...mutation, network: 'sockets' });

const both = (name: string, ...changes: readonly Change[]): Mutation => ({ name, changes });

const frames: readonly Mutation[] = [
  one(
    'a frame put together of its first two pieces',
    'transport/frame-reader.js',
    'Buffer.concat(this.#parts, this.#held)',
    'Buffer.concat(this.#parts.slice(0, 2), this.#held)',
  ),
  one(
    'a frame that begins a byte late when it comes with the one before',
    'transport/frame-reader.js',
    'const rest = all.subarray(this.#wanted);',
    'const rest = all.subarray(this.#held > this.#wanted ? this.#wanted + 1 : this.#wanted);',
  ),
  one(
    'frames that stay in the queue once they are written',
    'transport/connection.js',
    'this.#queue.length = 0;',
    '',
  ),
];

const connections: readonly Mutation[] = [
  one(
    'a connection that is not made again',
    'transport/peer.js',
    'clock.after(pauseMs, () => this.#connect())',
    'clock.after(pauseMs, () => {})',
  ),
  one(
    'requests that all have one number',
    'transport/peer.js',
    'this.#lastRequest += 1;',
    'this.#lastRequest = 1;',
  ),
  one(
    'an answer taken for that of the oldest request',
    'transport/peer.js',
    'this.#settle(frame.id, frame.payload);',
    'this.#settle([...this.#pending.keys()][0], frame.payload);',
  ),
  unit(
    both(
      'a connection made without a look at who is there',
      {
        file: 'transport/handshake.js',
        find: 'const problem = checkWelcome(context, to, frame.hello, connection);',
        replace: 'const problem = undefined;',
      },
      // alone it does no harm: each side dials, and looks at the other
      {
        file: 'transport/handshake.js',
        find: 'shown instanceof WireError ? shown : checkKnown(context, hello, shown);',
        replace: 'undefined;',
      },
    ),
    'transport/security',
  ),
];

const transfers: readonly Mutation[] = [
  both(
    'a transfer that leaves out a chunk when it goes on',
    {
      file: 'transport/snapshot-transfer.js',
      find: 'next = sink.next;',
      replace: 'next = sink.next + Math.min(sink.next, 1);',
    },
    // alone it does no harm: the receiver counts the chunks
    {
      file: 'node/snapshots.js',
      find: 'if (number > this.next)',
      replace: 'if (number < 0)',
    },
  ),
  one(
    'a chunk without its first record',
    'node/snapshots.js',
    'records.push([key, value]);',
    'if (bytes > 0 || number === 0) records.push([key, value]);',
  ),
];

export const wireMutations: readonly Mutation[] = [...frames, ...connections, ...transfers].map(
  overSockets,
);
