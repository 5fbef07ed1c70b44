/** The engine under all use cases: barriers before reads, held reads, authorisation at the moment of the answer. */
import type { Authorizer } from '../acl/types.js';
import { ApiError, reject } from '../errors.js';
import type { ClusterNode } from '../node/types.js';
import { Deadlines } from '../replica/deadlines.js';
import type { ClockPort } from '../replica/ports.js';
import { restoredAt } from '../state/restore.js';
import { INIT_FACT } from '../state/system.js';
import type { Command, PinnedView, View } from '../state/types.js';
import type { Authorizers } from './authorizers.js';
import type { Caller, ReadOptions, ReadOutcome, ReadUseCase, Service } from './types.js';

export interface EngineOptions {
  readonly node: EngineNode;
  readonly authorizers: Authorizers;
  readonly clock: ClockPort;
}

/** The member of the cluster, as far as the engine uses it. */
type EngineNode = Pick<
  ClusterNode,
  'view' | 'pin' | 'contact' | 'closed' | 'barrier' | 'write' | 'watch'
>;

/** What follows a barrier is as new as the leader's own state. */
const FRESH = { knownLeader: true, lastContactMs: 0 };

/** The index of a read that is not held, or no longer. */
const NOT_HELD = { index: 0 };
type Evaluated<T> = Pick<ReadOutcome<T>, 'value' | 'index' | 'filtered'>;

export class Engine implements Service {
  readonly #node: EngineNode;
  readonly #authorizers: Authorizers;
  readonly #clock: ClockPort;
  readonly #deadlines: Deadlines;
  #gathering: Promise<void> | undefined;
  #hasBegun = false;

  constructor({ node, authorizers, clock }: EngineOptions) {
    this.#node = node;
    this.#authorizers = authorizers;
    this.#clock = clock;
    this.#deadlines = new Deadlines(clock);
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
    if (options.mode === 'stale') await this.#gathered();
    else await this.#barrier(options.mode, options.timeoutMs);
    const until = this.#clock.now() + options.waitMs;
    for (let isFresh = options.mode !== 'stale'; ; isFresh = false) {
      const { index } = this.#clock.now() >= until ? NOT_HELD : options;
      const { outcome, keys } = this.#answer(caller, index, options.signal, useCase);
      if (outcome !== undefined) {
        return { ...outcome, ...(isFresh ? FRESH : this.#node.contact()) };
      }
      // a caller who loses the right to the answer is told so at once
      const rights = this.#authorizers.keysOf(caller.tokenKey);
      await this.#hold([...keys, ...rights], until, options.signal);
    }
  }

  /**
   * The end of this turn of the loop, the same for all who ask within it. Their answers leave one after the other, and a
   * client that waits for many of them is woken once: half the work of answering each as it comes.
   */
  #gathered(): Promise<void> {
    this.#gathering ??= new Promise((resolve) => {
      this.#clock.soon(() => {
        this.#gathering = undefined;
        resolve();
      });
    });
    return this.#gathering;
  }

  /**
   * Evaluates a read once: its outcome, or what to wait for. Apart from `read`, so that a held call keeps nothing of the
   * answer that nobody gets.
   */
  #answer<T>(
    caller: Caller,
    afterIndex: number,
    signal: AbortSignal | undefined,
    useCase: ReadUseCase<T>,
  ): { readonly outcome?: Evaluated<T>; readonly keys: readonly string[] } {
    const { view } = this.#node;
    const answer = useCase({ view, authorizer: this.authorize(caller) });
    const index = Math.max(1, answer.index, restoredAt(view));
    const isOver = afterIndex === 0 || signal?.aborted === true;
    if (!isOver && index <= afterIndex) return { keys: answer.keys };
    const { value, filtered = false } = answer;
    return { outcome: { value, index, filtered }, keys: [] };
  }

  async write(caller: Caller, command: Command, timeoutMs: number): Promise<string | undefined> {
    const { tokenKey } = caller;
    const result = await this.#node.write({ tokenKey, command, timeoutMs });
    if (!result.ok) throw new ApiError(result.refusal);
    return result.value;
  }

  authorize({ tokenKey }: Caller): Authorizer {
    this.#mustServe();
    this.#mustHaveBegun();
    return this.#authorizers.of(tokenKey) ?? reject('acl_not_found', 'ACL not found');
  }

  async permit(
    caller: Caller,
    timeoutMs: number,
    denial: (authorizer: Authorizer) => string | undefined,
  ): Promise<Authorizer> {
    this.#mustServe();
    const present = this.#authorizers.of(caller.tokenKey);
    if (present !== undefined && denial(present) === undefined) return present;
    await this.catchUp(timeoutMs);
    const authorizer = this.authorize(caller);
    const why = denial(authorizer);
    return why === undefined ? authorizer : reject('permission_denied', why);
  }

  catchUp(timeoutMs: number): Promise<void> {
    return this.#barrier('default', timeoutMs);
  }

  namespaceOf(tokenKey: string): string | undefined {
    return this.#authorizers.namespaceOf(tokenKey);
  }

  /** A node whose state is wrong, or no member's, decides nothing by it: not even a stale read. */
  #mustServe(): void {
    const closed = this.#node.closed();
    if (closed !== undefined) throw new ApiError(closed);
  }

  async #barrier(mode: 'default' | 'consistent', timeoutMs: number): Promise<void> {
    const until = this.#clock.now() + timeoutMs;
    await this.#node.barrier(mode, timeoutMs);
    // a new cluster has a leader a moment before it has its first tokens
    if (!this.#isBegun()) await this.#hold([INIT_FACT], until, undefined);
  }

  /**
   * Before a new cluster has begun, or a new member has got the state, nobody has rights in it, which says nothing of
   * the caller.
   */
  #mustHaveBegun(): void {
    if (this.#isBegun()) return;
    reject('unavailable', 'This server does not serve: it has no state yet, the cluster begins');
  }

  #isBegun(): boolean {
    this.#hasBegun ||= this.#node.view.get(INIT_FACT) !== undefined;
    return this.#hasBegun;
  }

  /** Resolves at the next change of a key, at the deadline, or when the client goes away. */
  #hold(keys: readonly string[], until: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        unwatch();
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const unwatch = this.#node.watch(keys, done);
      const cancel = this.#deadlines.at(until, done);
      signal?.addEventListener('abort', done);
    });
  }
}
