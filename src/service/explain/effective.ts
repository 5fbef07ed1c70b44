/** The use case that shows all rights of a token as one merged table. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Steps } from '../../acl/steps.js';
import type { ReadOptions, ReadOutcome } from '../common/types.js';
import { ownerOf } from '../reads/long-work.js';
import type { Collected } from '../rights/origins.js';
import { type FoundRights, MadeFromRights, rightsFinder } from './found-rights.js';
import { answerPast, findThen, type PastQuestion, type RewindParts } from './rewind.js';
import { withoutSecrets } from './secrets.js';
import { again, type ExplainedParts, identityIn, subjectOf, type Whose } from './subject.js';

/** Characters of the tables that are kept: those of a few large tokens. */
const KEPT_CHARS = 8 * 2 ** 20;

/** Shows the merged rights of tokens. */
export class EffectiveRights {
  readonly #parts: RewindParts;
  readonly #tables = new MadeFromRights<string | undefined>(
    KEPT_CHARS,
    (table) => table?.length ?? 0,
  );

  constructor(parts: RewindParts) {
    this.#parts = parts;
  }

  /** Reads the table of a token. The value is undefined if there is no such token. */
  async read(whose: Whose, options: ReadOptions): Promise<ReadOutcome<string | undefined>> {
    const { service } = this.#parts;
    const { value: found, ...outcome } = await service.read(
      whose.caller,
      options,
      rightsFinder(this.#parts, whose),
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

  #tableOf(found: FoundRights, { caller }: Whose): Promise<string | undefined> {
    const { longWork, service } = this.#parts;
    return this.#tables.of(found, () => {
      const steps = tableSteps(this.#parts, again(this.#parts, found.token));
      return longWork.runSoon(ownerOf(service, caller), 'explain', steps);
    });
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
