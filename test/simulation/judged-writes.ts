/**
 * By which state writes are judged. From the acknowledgement of a change on, the rights that it
 * took or gave are what counts for writes that are sent later, whoever leads.
 */
import { refusal } from '../../src/base/errors.js';
import type { Gate } from '../../src/node/types.js';
import type { Index } from '../../src/raft/types.js';
import { Violation } from './invariants.js';
import { NEW_PUT_LEVEL } from './releases.js';

/** A write that is under way. */
interface Judged {
  /** What was acknowledged when it was sent. */
  readonly atLeast: Index;
  /** The newest state by which a leader judged it. */
  newest: Index;
}

export class JudgedWrites {
  readonly #writes = new Map<string, Judged>();
  #count = 0;

  /** Returns the key of a token that stands for one write. */
  sent(acknowledged: Index): string {
    this.#count += 1;
    const key = `write ${this.#count}`;
    this.#writes.set(key, { atLeast: acknowledged, newest: 0 });
    return key;
  }

  /** A server permits a write by its state at an index. One that was deposed commits nothing. */
  judge(key: string | null, applied: Index): void {
    const write = key === null ? undefined : this.#writes.get(key);
    if (write !== undefined) write.newest = Math.max(write.newest, applied);
  }

  /** A write took effect. Throws a violation if every state that judged it was too old. */
  tookEffect(key: string): void {
    const { atLeast, newest } = this.#writes.get(key)!;
    this.#writes.delete(key);
    if (newest < atLeast)
      throw new Violation(
        'rights that were taken are not heeded',
        `a write by rights of ${newest}, after ${atLeast} was acknowledged`,
      );
  }
}

/** Returns the gate of a server: it notes by which state a write is judged, and knows commands. */
export const gateOf =
  (release: number, judged: JudgedWrites | undefined, applied: () => Index): Gate =>
  (_view, tokenKey, { type }) => {
    judged?.judge(tokenKey, applied());
    const isKnown = type !== 'newPut' || release >= NEW_PUT_LEVEL;
    return isKnown ? undefined : refusal('invalid', 'unknown command');
  };
