/** A single core: the test plays all other servers, message by message. */

import type { RaftOptions } from '../../src/raft/options.js';
import type { Entry, Input, Message, Output } from '../../src/raft/types.js';
import { diskWith, logOf, options, Server } from './cluster.js';

type Plain<T> = T extends unknown
  ? Omit<T, 'to' | 'from' | 'silenceMs'> & { from?: string; silenceMs?: number }
  : never;

/** The silence that a follower with the timing of `options` reports. */
const SILENCE_MS = 800;

/** A message to the server under test, from `b` by default. */
export type Incoming = Plain<Message>;

export class Solo extends Server {
  now = 0;

  input(...inputs: Input[]): Output {
    return this.step(this.now, ...inputs);
  }

  hear(...messages: Incoming[]): Output {
    return this.input(
      ...messages.map((message): Input => {
        const silence = message.type === 'appendResponse' ? { silenceMs: SILENCE_MS } : {};
        const full = { from: 'b', ...silence, ...message, to: this.id } as Message;
        return { type: 'message', message: full };
      }),
    );
  }

  ticks(count: number): void {
    for (let i = 0; i < count; i++) {
      this.now += this.options.tickMs;
      this.input({ type: 'tick' });
    }
  }

  propose(...texts: string[]): Output {
    const commands = texts.map((text, at) => ({
      id: at + 1,
      data: new TextEncoder().encode(text),
    }));
    return this.input({ type: 'propose', commands });
  }

  /** Messages of one type that were sent since the last `take` of any kind. */
  sent<T extends Message['type']>(type: T): (Message & { type: T })[] {
    return this.take().filter((message): message is Message & { type: T } => message.type === type);
  }

  syncNow(): void {
    this.sync(this.now);
  }
}

export interface Setup {
  readonly term?: number;
  readonly votedFor?: string | null;
  readonly entries?: Entry[];
  readonly more?: Partial<RaftOptions>;
}

/**
 * Server `a` with a log that begins with the configuration `words`. Its term defaults to that of
 * its last entry.
 */
export function solo(words = 'a b c', setup: Setup = {}): Solo {
  const entries = setup.entries ?? logOf(words);
  const term = setup.term ?? entries.at(-1)?.term ?? 0;
  const hardState = { term, votedFor: setup.votedFor ?? null };
  return new Solo(options('a', 0, setup.more), diskWith(entries, hardState));
}

/** Makes `a` the leader by the other voters' votes; its no-op is stored but not acknowledged. */
export function lead(server: Solo): Solo {
  server.ticks(server.options.electionTicks);
  const others = server.status.configuration.members
    .filter((member) => member.voter && member.id !== server.id)
    .map((member) => member.id);
  const term = server.status.term + 1;
  for (const from of others) {
    if (server.role !== 'preCandidate') break;
    server.hear({ type: 'preVoteResponse', from, term, granted: true });
  }
  for (const from of others) {
    if (server.role !== 'candidate') break;
    server.hear({ type: 'voteResponse', from, term, granted: true });
  }
  if (server.role !== 'leader') throw new Error(`still ${server.role}`);
  return server;
}

/** An acknowledgement of everything up to `index`. */
export function ack(
  server: Solo,
  from: string,
  index = server.status.lastIndex,
  round = 0,
  silenceMs = SILENCE_MS,
): Output {
  const { term } = server.status;
  return server.hear({
    type: 'appendResponse',
    from,
    term,
    success: true,
    index,
    hintTerm: 0,
    round,
    silenceMs,
  });
}

/** An append of `entries` after (prevIndex, prevTerm). */
export function append(
  term: number,
  prevIndex: number,
  prevTerm: number,
  entries: Entry[] = [],
  more: { commit?: number; round?: number; from?: string } = {},
): Incoming {
  return {
    type: 'append',
    from: 'b',
    term,
    prevIndex,
    prevTerm,
    entries,
    commit: 0,
    round: 1,
    ...more,
  };
}

export function noops(from: number, ...terms: number[]): Entry[] {
  return terms.map((term, at) => ({ kind: 'noop', index: from + at, term }));
}

export function terms(server: Solo): number[] {
  return server.log.content.entries.map((entry) => entry.term);
}

/** A leader of term 2 (log: configuration, no-op) whose followers b and c have everything. */
export function settled(words = 'a b c', more: Parameters<typeof solo>[1] = {}): Solo {
  const server = lead(solo(words, more));
  for (const { id } of server.status.progress) ack(server, id);
  server.take();
  return server;
}

/** A follower of b in term 5 with the given terms after the configuration (term 1). */
export function follower(...items: number[]): Solo {
  const server = solo('a b c', { term: 5, entries: logOf('a b c', ...items) });
  server.take();
  return server;
}

/** A vote request in term 2 from a server with the log that `solo` has. */
export const vote = { type: 'vote', term: 2, lastIndex: 1, lastTerm: 1 } as const;

/** A server that has not campaigned and whose silence is over. */
export function patient(setup: Parameters<typeof solo>[1] = {}): Solo {
  const server = solo('a b c', { ...setup, more: { random: () => 0.99, ...setup.more } });
  server.ticks(10);
  server.take();
  return server;
}

/** A response of a server that does not follow in that term. */
export const rejection = { from: 'c', success: false, index: 0, hintTerm: 0, round: 0 } as const;

/** A candidate of term 2 with its own vote only. */
export function campaigning(words: string): Solo {
  const server = solo(words);
  server.ticks(10);
  for (const from of ['b', 'c', 'd', 'e']) {
    if (server.role === 'preCandidate') {
      server.hear({ type: 'preVoteResponse', from, term: 2, granted: true });
    }
  }
  server.take();
  if (server.role !== 'candidate') throw new Error(`still ${server.role}`);
  return server;
}
