/** What a follower acknowledges must be on its disk: those very entries, no others in place. */
import type { Message, Output, Term } from '../../src/raft/types.js';
import type { LogSight } from './invariants.js';
import { withTail } from './sights.js';
import { Violation } from './violation.js';

type Acknowledgement = Extract<Message, { readonly type: 'appendResponse' }>;

/** See the head of this file. */
export class Acknowledgements {
  /** The term of the last entry that a message acknowledges, as its server's log had it. */
  readonly #terms = new WeakMap<Message, Term>();

  /** Notes what the messages of a step acknowledge. `log` is without the entries of the output. */
  stepped({ output, log }: { readonly output: Output; readonly log: LogSight }): void {
    for (const message of output.sendAfterStore) {
      if (message.type !== 'appendResponse' || !message.success) continue;
      const term = withTail(log, output.entries).term(message.index);
      if (term !== undefined) this.#terms.set(message, term);
    }
  }

  /** Throws unless the disk has what a message acknowledges, or a snapshot in its place. */
  check(message: Acknowledgement, durable: LogSight): void {
    const { from, index, term } = message;
    const { hard } = durable;
    // A response of an earlier term may be late, and the entries that it covers replaced.
    if (hard.term > term) return;
    const acknowledged = this.#terms.get(message);
    const found = durable.term(index);
    const isThere =
      index < durable.first() - 1 ||
      (acknowledged === undefined ? found !== undefined : found === acknowledged);
    if (hard.term === term && isThere) return;
    throw new Violation(
      'acknowledged is durable',
      `${from} acknowledges index ${index} of term ${acknowledged} in term ${term}; on disk are ` +
        `${durable.first()}..${durable.last()} in term ${hard.term}, there with term ${found}`,
    );
  }
}
