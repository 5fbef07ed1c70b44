/** The use case that shows all rights of a token as one merged table. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Steps } from '../../acl/steps.js';
import { keys } from '../../state/keys.js';
import { deletedIndex } from '../../state/lists.js';
import { lifeKeys, type Token } from '../../state/tokens.js';
import type { ReadOptions, ReadOutcome, ReadUseCase } from '../common/types.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { ownerOf } from '../reads/long-work.js';
import type { SharedRights } from '../rights/authorizers.js';
import type { Collected } from '../rights/origins.js';
import { answerPast, findThen, type PastQuestion, type RewindParts } from './rewind.js';
import { withoutSecrets } from './secrets.js';
import {
  again,
  type ExplainedParts,
  findToken,
  identityIn,
  subjectOf,
  type Whose,
} from './subject.js';

/** A token, and the rights that enforcement decides its requests by. */
interface Found {
  readonly token: Token;
  readonly rights: SharedRights;
}

/** The table of one token, as JSON, once it is made. It does not keep the rights in memory. */
interface Table {
  readonly modifyIndex: number;
  readonly rights: WeakRef<SharedRights>;
  readonly text: Promise<string | undefined>;
}

/** Characters of the tables that are kept: those of a few large tokens. */
const KEPT_CHARS = 8 * 2 ** 20;

/**
 * Shows the merged rights of tokens. Requests for the table of the same token with the same rights
 * share it, as those that one change wakes do.
 */
export class EffectiveRights {
  readonly #parts: RewindParts;
  /** By accessor. */
  readonly #tables = new WeightedCache<Table>(KEPT_CHARS);

  constructor(parts: RewindParts) {
    this.#parts = parts;
  }

  /** Reads the table of a token. The value is undefined if there is no such token. */
  async read(whose: Whose, options: ReadOptions): Promise<ReadOutcome<string | undefined>> {
    const { service } = this.#parts;
    const { value: found, ...outcome } = await service.read(
      whose.caller,
      options,
      this.#find(whose),
    );
    if (found === undefined) return { ...outcome, value: undefined };
    // The table may be newer than the index of the answer, never older.
    return { ...outcome, value: await this.#tableOf(found, whose) };
  }

  /** Reads the table of a moment of the past. */
  readPast(
    whose: Whose,
    options: ReadOptions,
    at: string,
  ): Promise<ReadOutcome<string | undefined>> {
    const answer: PastQuestion['answer'] = function* (past, context) {
      const find = yield* findThen(past, context, whose);
      return find && (yield* tableSteps(past, find));
    };
    return answerPast(this.#parts, { caller: whose.caller, options }, { at, answer });
  }

  /** Finds the token and where its rights are in the log, without making the table. */
  #find =
    (whose: Whose): ReadUseCase<Found | undefined> =>
    (context) => {
      const { nowMs, authorizers } = this.#parts;
      const token = findToken(context, whose, nowMs());
      if (token === undefined) {
        const { ns, accessor = '' } = whose;
        // Changes in other namespaces are not for this caller, so it does not wait for them.
        const index = deletedIndex(context.view, 'token', ns);
        return { value: undefined, index, keys: [keys.token(ns, accessor)] };
      }
      const rights = authorizers.rightsOf(token);
      if (rights instanceof Promise) {
        return { value: undefined, index: 0, keys: [], pending: rights };
      }
      const own = keys.token(token.Namespace, token.AccessorID);
      return {
        value: { token, rights },
        index: Math.max(token.ModifyIndex, rights.index),
        keys: [own, ...lifeKeys(token), ...rights.dependsOn],
      };
    };

  #tableOf({ token, rights }: Found, { caller }: Whose): Promise<string | undefined> {
    const { AccessorID: id, ModifyIndex } = token;
    const known = this.#tables.get(id);
    if (known?.rights.deref() === rights && known.modifyIndex === ModifyIndex) return known.text;
    const { longWork, service } = this.#parts;
    const steps = tableSteps(this.#parts, again(this.#parts, token));
    const text = longWork.runSoon(ownerOf(service, caller), 'explain', steps);
    const table: Table = { modifyIndex: ModifyIndex, rights: new WeakRef(rights), text };
    this.#tables.set(id, table, 0);
    const isKept = (): boolean => this.#tables.get(id) === table;
    text.then(
      (made = '') => isKept() && this.#tables.set(id, table, made.length),
      () => isKept() && this.#tables.delete(id),
    );
    return text;
  }
}

/** Makes the table of a token. Returns undefined if `find` finds none. */
function* tableSteps(
  parts: ExplainedParts,
  find: () => Collected | undefined,
): Steps<string | undefined> {
  const { service, defaultPolicy } = parts;
  const subject = yield* subjectOf(parts, find);
  if (subject === undefined) return undefined;
  const { AccessorID, Namespace, ExpirationTime } = subject.token;
  const { Rights, Truncated } = yield* subject.explainer.table();
  yield;
  const value = {
    AccessorID,
    Namespace,
    ...identityIn(service.view, subject.token),
    Anonymous: AccessorID === ANONYMOUS_ACCESSOR,
    DefaultPolicy: defaultPolicy,
    ...(ExpirationTime !== undefined && { ExpirationTime }),
    Truncated,
    Rights,
  };
  const text = JSON.stringify(value);
  yield;
  return withoutSecrets(service.view, text);
}
