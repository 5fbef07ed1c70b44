/**
 * The service on a node: a barrier before each read that is not stale, blocking queries, and
 * authorisation at the moment of the answer. All that waits for time waits on the node's deadlines.
 */
import type { Authorizer } from '../../acl/types.js';
import {
  ApiError,
  type Refusal,
  refuse,
  refuseIf,
  reject,
  UNKNOWN_TOKEN,
} from '../../base/errors.js';
import { named } from '../../base/works.js';
import type { ClusterNode } from '../../node/types.js';
import type { ClockPort } from '../../replica/ports.js';
import type { Author } from '../../state/author.js';
import { hasAuthors } from '../../state/levels.js';
import { restoredAt } from '../../state/restore.js';
import { ownerOfWritten } from '../../state/sets.js';
import { stamped } from '../../state/stamp.js';
import { INIT_FACT } from '../../state/system.js';
import type { Command, PinnedView, View } from '../../state/types.js';
import type { CallEnd } from '../common/call-end.js';
import type {
  Caller,
  Digest,
  Notes,
  ReadOptions,
  ReadOutcome,
  ReadUseCase,
  Requester,
  Service,
} from '../common/types.js';
import type { Authorizers } from '../rights/authorizers.js';
import { ReadTurns } from './read-turns.js';

export interface NodeServiceOptions {
  readonly node: ServiceNode;
  readonly authorizers: Authorizers;
  readonly clock: ClockPort;
  /** Called with the accessor of a token whose request is accepted. */
  readonly onUse?: (accessor: string) => void;
}

/** The part of a node that the service uses. */
type ServiceNode = Pick<
  ClusterNode,
  'view' | 'pin' | 'contact' | 'closed' | 'barrier' | 'write' | 'watch'
>;

/** A read right after a barrier is as current as the leader's own state. */
const FRESH = { knownLeader: true, lastContactMs: 0 };

/**
 * Milliseconds to pause after a change of hidden items alone. A burst of such writes then does not
 * read the list each time.
 */
const REST_MS = 50;

type Evaluated<T> = Pick<ReadOutcome<T>, 'value' | 'index' | 'filtered'>;

interface Query {
  readonly tokenKey: string | null;
  /** It is held until its index is greater. 0: it is not held. */
  after: number;
  readonly untilMs: number;
  readonly end: CallEnd | undefined;
  readonly notes: Notes | undefined;
  /** The digest of what the client has; undefined if it has everything, null if not yet known. */
  shown: string | undefined | null;
  isFresh: boolean;
}

/** Implements the service over a node, its state and a cache of authorizers. */
export class NodeService implements Service {
  readonly #node: ServiceNode;
  readonly #authorizers: Authorizers;
  readonly #clock: ClockPort;
  readonly #turns: ReadTurns;
  readonly #onUse: (accessor: string) => void;
  #isInitialized = false;

  constructor({ node, authorizers, clock, onUse = () => {} }: NodeServiceOptions) {
    this.#onUse = onUse;
    this.#node = node;
    this.#authorizers = authorizers;
    this.#clock = clock;
    this.#turns = new ReadTurns(clock);
  }

  get view(): View {
    return this.#node.view;
  }

  pin(): PinnedView {
    return this.#node.pin();
  }

  async read<T>(
    caller: Caller,
    options: ReadOptions,
    useCase: ReadUseCase<T>,
  ): Promise<ReadOutcome<T>> {
    if (options.mode === 'stale') await this.#turns.soon();
    else {
      await this.#barrier(options.mode, options.timeoutMs);
      await this.#turns.now();
    }
    const query: Query = {
      tokenKey: caller.tokenKey,
      after: options.index,
      untilMs: this.#clock.now() + options.waitMs,
      end: options.end,
      notes: options.notes,
      shown: options.shown ?? null,
      isFresh: options.mode !== 'stale',
    };
    for (;;) {
      const known = this.#authorizers.cached(caller.tokenKey);
      const preparing = known ? undefined : this.#authorizers.prepare(caller.tokenKey);
      if (preparing !== undefined) {
        await this.#prepared(caller, preparing);
        query.isFresh = false;
      }
      const answer = this.#answer(query, this.#authorizerOf(caller, known), useCase);
      const outcome = answer instanceof Promise ? await answer : answer;
      if (outcome === undefined) continue;
      const { value, index, filtered } = outcome;
      const { knownLeader, lastContactMs } = query.isFresh ? FRESH : this.#node.contact();
      // written out: V8 is slow to copy the members of two objects
      return { value, index, filtered, knownLeader, lastContactMs };
    }
  }

  /**
   * Evaluates a read once. The promise resolves with undefined when the read must be evaluated
   * again. It is a method of its own so that a blocked query does not keep a discarded answer in
   * memory.
   */
  #answer<T>(
    query: Query,
    authorizer: Authorizer,
    useCase: ReadUseCase<T>,
  ): Evaluated<T> | Promise<Evaluated<T> | undefined> {
    const { view } = this.#node;
    const asked = query.notes?.asking(authorizer) ?? authorizer;
    const answer = named('read', () => useCase({ view, authorizer: asked }));
    if (answer.pending !== undefined) return this.#afterTurn(answer.pending);
    const index = Math.max(1, answer.index, restoredAt(view));
    const { value, filtered = false, digest } = answer;
    const outcome = { value, index, filtered };
    const { after, end, shown, untilMs } = query;
    const isOver = after === 0 || end?.isOver === true || this.#clock.now() >= untilMs;
    if (isOver || (index > after && (typeof shown !== 'string' || digest === undefined))) {
      this.#turns.answers(value);
      return outcome;
    }
    if (index > after) return this.#unlessShown(query, outcome, digest!());
    if (shown === null && digest !== undefined) return this.#noteShown(query, digest());
    // A caller who loses the right to the answer, or whose token expires, is refused at once.
    const rights = this.#authorizers.keysOf(query.tokenKey);
    const livesMs = this.#authorizers.livesMs(query.tokenKey);
    query.isFresh = false;
    const { endsInMs = Number.POSITIVE_INFINITY } = answer;
    const lastsMs = Math.max(1, Math.min(endsInMs, livesMs));
    const wakeMs = Math.min(untilMs, this.#clock.now() + lastsMs);
    return this.#hold([...answer.keys, ...rights], wakeMs, end);
  }

  async #afterTurn(pending: Promise<void>): Promise<undefined> {
    await pending;
    // thousands of reads may wait for the same
    await new Promise<void>((resolve) => this.#turns.again(resolve));
  }

  /** Only the digest is kept in memory while the caller waits. */
  async #noteShown(query: Query, digest: Digest): Promise<undefined> {
    query.shown = await digest;
  }

  /** Returns an answer unless it shows what the client has: only hidden items have changed. */
  async #unlessShown<T>(
    query: Query,
    outcome: Evaluated<T>,
    digest: Digest,
  ): Promise<Evaluated<T> | undefined> {
    if ((await digest) !== query.shown) {
      this.#turns.answers(outcome.value);
      return outcome;
    }
    query.after = outcome.index;
    await this.#hold([], Math.min(this.#clock.now() + REST_MS, query.untilMs), query.end);
    return undefined;
  }

  async write(requester: Requester, sent: Command): Promise<string> {
    const { caller, timeoutMs, reason, match } = requester;
    const { tokenKey } = caller;
    requester.noteOwner?.(ownerOfWritten(this.#node.view, sent));
    let command = match === undefined ? sent : { ...sent, match };
    if (hasAuthors(this.#node.view)) {
      const author = requester.author ?? (await this.#authorOf(requester));
      command = stamped(command, { author, nowMs: this.#clock.wall(), reason });
    }
    const noting = requester.notes?.proposed(command);
    if (noting !== undefined) await noting;
    const result = await this.#node.write({ tokenKey, command, timeoutMs });
    if (!result.ok) throw new ApiError(result.refusal);
    requester.notes?.written(result.index);
    return result.value ?? 'true';
  }

  async #authorOf({ caller: { tokenKey }, timeoutMs }: Requester): Promise<Author> {
    // Another node may have created the token a moment ago.
    if (!this.#authorizers.knows(tokenKey)) await this.catchUp(timeoutMs);
    return this.#authorizers.authorOf(tokenKey);
  }

  async authorize(caller: Caller): Promise<Authorizer> {
    await this.#prepared(caller);
    return this.#authorizerOf(caller);
  }

  /** Resolves when the caller's rights are compiled. */
  async #prepared({ tokenKey }: Caller, first?: Promise<void>): Promise<void> {
    let preparing = first ?? this.#authorizers.prepare(tokenKey);
    while (preparing !== undefined) {
      await preparing;
      preparing = this.#authorizers.prepare(tokenKey);
    }
  }

  /** `known`: the authorizer, where the caller of this function has found it. */
  #authorizerOf({ tokenKey }: Caller, known?: Authorizer): Authorizer {
    this.#mustServe();
    this.#mustBeInitialized();
    const authorizer = known ?? this.#authorizers.of(tokenKey) ?? refuse(UNKNOWN_TOKEN);
    this.#onUse(authorizer.accessor);
    return authorizer;
  }

  async permit(
    { caller, timeoutMs, notes }: Requester,
    denial: (authorizer: Authorizer) => Refusal | undefined,
  ): Promise<Authorizer> {
    this.#mustServe();
    const denied = (authorizer: Authorizer): Refusal | undefined =>
      denial(notes?.checking(authorizer) ?? authorizer);
    let present = this.#authorizers.cached(caller.tokenKey);
    if (present === undefined) {
      await this.#prepared(caller);
      present = this.#authorizers.of(caller.tokenKey);
    }
    if (present !== undefined && denied(present) === undefined) {
      this.#onUse(present.accessor);
      return present;
    }
    await this.catchUp(timeoutMs);
    const authorizer = await this.authorize(caller);
    refuseIf(denied(authorizer));
    return authorizer;
  }

  catchUp(timeoutMs: number): Promise<void> {
    return this.#barrier('default', timeoutMs);
  }

  namespaceOf(tokenKey: string): string | undefined {
    return this.#authorizers.namespaceOf(tokenKey);
  }

  /**
   * Throws ApiError if this node must not use its state: the state has diverged or is lost, or the
   * node is no longer a member. Not even a stale read is answered then.
   */
  #mustServe(): void {
    const closed = this.#node.closed();
    if (closed !== undefined) throw new ApiError(closed);
  }

  #barrier(mode: 'default' | 'consistent', timeoutMs: number): Promise<void> {
    const passed = this.#node.barrier(mode, timeoutMs);
    return this.#isInitialized ? passed : this.#afterInit(passed, timeoutMs);
  }

  /** A new cluster has a leader shortly before it has its first tokens. */
  async #afterInit(passed: Promise<void>, timeoutMs: number): Promise<void> {
    const until = this.#clock.now() + timeoutMs;
    await passed;
    if (!this.#checkInitialized()) await this.#hold([INIT_FACT], until, undefined);
  }

  /**
   * Throws ApiError `unavailable` before the cluster is initialized or a new member has received
   * the state. Nobody has rights in an empty state, so a 403 would be wrong.
   */
  #mustBeInitialized(): void {
    if (this.#checkInitialized()) return;
    reject(
      'unavailable',
      'This server is not serving requests: it has no state yet, the cluster is starting',
    );
  }

  #checkInitialized(): boolean {
    this.#isInitialized ||= this.#node.view.get(INIT_FACT) !== undefined;
    return this.#isInitialized;
  }

  /**
   * Resolves after the next change of a key, the deadline, or the disconnection of the client, when
   * it is this reader's turn.
   */
  #hold(keys: readonly string[], untilMs: number, end: CallEnd | undefined): Promise<undefined> {
    return new Promise((resolve) => {
      const since = this.#clock.now();
      const done = (): void => {
        cancel();
        if (end !== undefined) {
          end.wake = undefined;
          end.heldMs += this.#clock.now() - since;
        }
        this.#turns.again(() => resolve(undefined));
      };
      const cancel = this.#node.watch(keys, done, untilMs);
      if (end !== undefined) end.wake = done;
    });
  }
}
