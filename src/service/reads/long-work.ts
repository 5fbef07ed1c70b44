/** Limits the long work of one node, and shares it between those who ask for it. */
import { reject } from '../../base/errors.js';
import type { Work } from '../../base/works.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { inSlices, inThisTurn, nextTurn } from '../common/event-loop.js';
import type { Caller, Service } from '../common/types.js';

/** Works at one time: each may hold a frozen view, and all share the turns of the event loop. */
const WORKS_MAX = 2;
/** Explanations that wait for a place, in all and of one owner. Each is a request in memory. */
const WAITING_MAX = 512;
const WAITING_OF_OWNER_MAX = 64;

/** What a use case that may take long needs of a node. */
export interface LongWorkParts {
  readonly service: Service;
  readonly longWork: LongWork;
}

/** For whom a work is done: a token, and the namespace of the token. */
export interface WorkOwner {
  readonly token: string;
  readonly namespace: string;
}

/** Returns the owner of the work that a caller asks for. */
export function ownerOf(service: Pick<Service, 'namespaceOf'>, { tokenKey }: Caller): WorkOwner {
  const namespace = tokenKey === null ? undefined : service.namespaceOf(tokenKey);
  return { token: tokenKey ?? '', namespace: namespace ?? DEFAULT_NAMESPACE };
}

interface Waiting {
  readonly owner: WorkOwner;
  readonly start: () => void;
}

/**
 * Runs long work in slices between turns of the event loop. One token has one place, and so have
 * all tokens of one created namespace, so that they leave the other place to the rest.
 */
export class LongWork {
  readonly #running = new Set<WorkOwner>();
  readonly #waiting = new Set<Waiting>();

  /**
   * Runs a work that grows with the number of objects. Each step is bounded. Rejects with ApiError
   * `too_many` if there is no place.
   */
  async run<T>(owner: WorkOwner, name: Work, work: () => Iterator<void, T>): Promise<T> {
    if (!this.#hasPlace(owner)) refuse();
    return this.#inPlace({ ...owner }, name, work());
  }

  /**
   * Runs a work about the rights of one token. What fits into a slice needs no place, and the rest
   * waits for one. Rejects with ApiError `too_many` if too many wait.
   */
  async runSoon<T>(owner: WorkOwner, name: Work, work: Iterator<void, T>): Promise<T> {
    const first = inThisTurn(work, name);
    if (first.done) return first.value;
    const own = { ...owner };
    try {
      await this.#place(own);
    } catch (error) {
      work.return?.();
      throw error;
    }
    return this.#inPlace(own, name, work);
  }

  /**
   * Runs work that takes its turns itself. If there is no place, work that is `short` waits for
   * one, and the rest is refused.
   */
  async hold<T>(owner: WorkOwner, isShort: boolean, work: () => Promise<T>): Promise<T> {
    const own = { ...owner };
    if (isShort) await this.#place(own);
    else if (!this.#hasPlace(own)) refuse();
    this.#running.add(own);
    try {
      await nextTurn();
      return await work();
    } finally {
      this.#running.delete(own);
      this.#startNext();
    }
  }

  async #inPlace<T>(owner: WorkOwner, name: Work, work: Iterator<void, T>): Promise<T> {
    this.#running.add(owner);
    try {
      // the turn in which a place becomes free has had its slice
      await nextTurn();
      return await inSlices(work, name);
    } finally {
      this.#running.delete(owner);
      this.#startNext();
    }
  }

  #hasPlace(owner: WorkOwner): boolean {
    return this.#running.size < WORKS_MAX && ![...this.#running].some((one) => isSame(one, owner));
  }

  #place(owner: WorkOwner): Promise<void> | void {
    if (this.#hasPlace(owner)) {
      this.#running.add(owner);
      return;
    }
    const own = [...this.#waiting].filter((waiting) => isSame(waiting.owner, owner));
    if (own.length >= WAITING_OF_OWNER_MAX || this.#waiting.size >= WAITING_MAX) refuse();
    return new Promise((resolve) => {
      this.#waiting.add({ owner, start: resolve });
    });
  }

  /** Gives free places to those who wait, in order. */
  #startNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#running.size >= WORKS_MAX) return;
      if (!this.#hasPlace(waiting.owner)) continue;
      this.#waiting.delete(waiting);
      // It takes its place before anybody else can.
      this.#running.add(waiting.owner);
      waiting.start();
    }
  }
}

/** Whether two owners share one place. */
const isSame = (a: WorkOwner, b: WorkOwner): boolean =>
  a.token === b.token || (a.namespace === b.namespace && a.namespace !== DEFAULT_NAMESPACE);

function refuse(): never {
  const why = 'This node is already running other long requests; retry later';
  reject('too_many', why, {
    hint: `a node runs ${WORKS_MAX} of them at one time, and one for each token`,
  });
}
