/**
 * Judges config entries without writing them (beyond.md 2.4): the form of each, the rules of its
 * kind, and the rules between entries on a draft of the state that holds all of them.
 */
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { EntryProblem, EntryResult, Validation } from '../../api/endpoints/change.js';
import { type Refusal, reject } from '../../base/errors.js';
import type { Change } from '../../kinds/conflicts.js';
import { DECODING, decodeInSteps, ENTRY_BODY } from '../../kinds/decode.js';
import { isKind } from '../../kinds/definitions.js';
import type { Problem } from '../../kinds/problems.js';
import type { ConfigEntry } from '../../kinds/types.js';
import { anyObject, bodyOf, ifSent, isObject, items, type Type } from '../../languages/fields.js';
import { cut } from '../../languages/shown-values.js';
import { timeOf } from '../../languages/times.js';
import { type ConfigSet, refusalsOfStaged, stageEntry } from '../../state/config.js';
import { Overlay } from '../../state/draft.js';
import { keys } from '../../state/keys.js';
import { namespaceProblem } from '../../state/lists.js';
import { hideSecrets } from '../../state/put-form.js';
import { refOf } from '../../state/refs.js';
import type { ApplyContext, View } from '../../state/types.js';
import { readState, stateIndex } from '../common/reading.js';
import type { ReadOutcome, StateRead } from '../common/types.js';
import type { WhoCanParts } from '../explain/who-can.js';
import { ownerOf } from '../reads/long-work.js';
import { applyDenial, configSet, toldTo } from './config-entries.js';
import { denialOf, homeOf } from './entry-rights.js';
import { hidingEntry, withSecrets } from './shown-entries.js';

/** Entries of one request. */
const ENTRIES_MAX = 1_000;
/** Problems that the rules between entries find in one entry. */
const PROBLEMS_MAX = 100;

/** A body to judge: an entry, or several as Entries. */
export const ENTRIES_BODY: Type<Readonly<Record<string, unknown>>> = {
  ...anyObject,
  description: {
    is: 'free',
    shapeOf: (body) =>
      Object.keys(body).some((key) => key.toLowerCase() === 'entries')
        ? ENTRIES
        : ENTRY_BODY.description,
  },
};
const ENTRIES = bodyOf({ Entries: ifSent('The entries.', items(ENTRY_BODY)) }).description;

/** Judges the entries of a body (parsed JSON). Throws ApiError 400 if it holds none. */
export async function validateEntries(
  parts: Pick<WhoCanParts, 'service' | 'longWork' | 'nowMs' | 'datacenter'>,
  { caller, ns, options }: StateRead,
  body: unknown,
): Promise<ReadOutcome<string>> {
  const bodies = bodiesIn(body);
  const { service, longWork, nowMs, datacenter } = parts;
  const outcome = await readState(service, { caller, options }, (context) => context.authorizer);
  const view = service.pin();
  try {
    const at = timeOf(nowMs());
    const judge = new Judge({ view, authorizer: outcome.value, ns, at, datacenter });
    const work = judge.run(bodies, isObject(body) && Object.hasOwn(body, 'Entries'));
    return { ...outcome, value: await longWork.runSoon(ownerOf(service, caller), 'lint', work) };
  } finally {
    view.close();
  }
}

/** Returns the entries of a body: itself, or its member Entries. Throws ApiError 400. */
function bodiesIn(body: unknown): readonly unknown[] {
  if (!isObject(body)) reject('invalid', `${DECODING}: expected an entry, or {"Entries":[…]}`);
  if (!Object.hasOwn(body, 'Entries')) return [body];
  const pointer = '/Entries';
  const { Entries, ...others } = body;
  const [other] = Object.keys(others);
  if (other !== undefined) {
    const why = `${DECODING}: unknown field ${JSON.stringify(cut(other))} beside "Entries"`;
    reject('invalid', why);
  }
  if (!Array.isArray(Entries)) reject('invalid', `${DECODING}: expected a list`, { pointer });
  if (Entries.length > ENTRIES_MAX) {
    const why = `${DECODING}: at most ${ENTRIES_MAX} entries are judged together`;
    reject('invalid', why, { pointer });
  }
  return Entries;
}

interface JudgeParts {
  readonly view: View;
  readonly authorizer: Authorizer;
  readonly ns: string;
  /** RFC 3339. */
  readonly at: string;
  readonly datacenter: string;
}

/** An entry whose form is right, and what it changes of the state. */
interface Staged {
  readonly command: ConfigSet;
  readonly entry: ConfigEntry;
  readonly change: Change | undefined;
}

class Judge {
  readonly #parts: JudgeParts;
  readonly #context: ApplyContext;
  /** The positions of the entries by their Refs. */
  readonly #known = new Map<string, number>();

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    this.#context = { draft: new Overlay(parts.view), index: stateIndex(parts.view) + 1 };
  }

  /** Judges some bodies. Returns the answer as JSON. */
  *run(bodies: readonly unknown[], isSet: boolean): Steps<string> {
    const results: (EntryResult | Staged)[] = [];
    for (const [position, body] of bodies.entries()) {
      const pointer = isSet ? `/Entries/${position}` : '';
      const kept = this.#withSecrets(body);
      if ('problem' in kept) {
        results.push(this.#malformed(body, [problemOf(kept.problem)], pointer));
        continue;
      }
      const decoded = yield* decodeInSteps(kept.body, { namespace: this.#parts.ns }, 'all');
      if (decoded.ok) results.push(this.#staged(decoded.entry, pointer));
      else results.push(this.#malformed(body, decoded.problems, pointer));
      yield;
    }
    const Results: EntryResult[] = [];
    for (const result of results) {
      Results.push('command' in result ? this.#judged(result) : result);
      yield;
    }
    const Valid = Results.every((result) => result.Valid);
    const value: Validation = { Valid, Index: stateIndex(this.#parts.view), Results };
    return JSON.stringify(value);
  }

  /**
   * Returns a body with the stored secrets in place of `<hidden>`, as a write would keep them. Who
   * may not write the entry does not learn whether there is one.
   */
  #withSecrets(body: unknown): { readonly body: unknown } | { readonly problem: Refusal } {
    const hiding = hidingEntry(body);
    if (hiding === undefined) return { body };
    const { kind, name } = hiding.id;
    const { authorizer, view } = this.#parts;
    const ns = homeOf(kind, this.#parts.ns);
    if (denialOf(authorizer, 'apply', hiding.id, ns) !== undefined) return { body };
    return withSecrets(hiding, view.get(keys.config(ns, kind, name)));
  }

  /** Returns the Ref of an entry. Throws ApiError 400 if it stands twice. */
  #refOf(kind: string, name: string, pointer: string): string {
    if (!isKind(kind) || name === '') return '';
    const ref = refOf('config', homeOf(kind, this.#parts.ns), `${kind}/${name}`);
    const id = ref.toLowerCase();
    if (this.#known.has(id)) reject('invalid', `${DECODING}: ${ref} appears twice`, { pointer });
    this.#known.set(id, this.#known.size);
    return ref;
  }

  #malformed(body: unknown, problems: readonly Problem[], pointer: string): EntryResult {
    const member = (name: string): string => {
      const value = isObject(body) ? (body[name] ?? body[name.toLowerCase()]) : '';
      return typeof value === 'string' ? value : '';
    };
    const [Kind, Name] = [member('Kind'), member('Name')];
    const Ref = this.#refOf(Kind, Name, pointer);
    const Problems = problems.map((one) => shown('invalid', one));
    const head = { Kind: cut(Kind), Name: cut(Name), Ref: cut(Ref) };
    return { ...head, Valid: false, Normalised: null, Problems, Judged: 'form' };
  }

  #staged(entry: ConfigEntry, pointer: string): Staged {
    const { at, datacenter, ns } = this.#parts;
    const { Kind: kind, Name: name } = entry;
    this.#refOf(kind, name, pointer);
    const command = configSet(entry, { ns: homeOf(kind, ns), cas: null, at, datacenter });
    return { command, entry, change: stageEntry(this.#context, command) };
  }

  /** Judges an entry by the rules between entries, if the caller may write it. */
  #judged({ command, entry, change }: Staged): EntryResult {
    const { authorizer, view, ns } = this.#parts;
    const mayWrite = applyDenial(authorizer, view, entry, ns) === undefined;
    const found = new Map<string, EntryProblem>();
    for (const why of mayWrite ? this.#refusals(command, change) : []) {
      const told = toldTo(authorizer, view, command, why);
      found.set(told.message, shown(told.code, { ...told, pointer: told.pointer ?? '' }));
      if (found.size >= PROBLEMS_MAX) break;
    }
    return {
      Kind: entry.Kind,
      Name: entry.Name,
      Ref: refOf('config', command.ns, `${entry.Kind}/${entry.Name}`),
      Valid: found.size === 0,
      Normalised: hideSecrets('config', entry),
      Problems: [...found.values()],
      Judged: mayWrite ? 'all' : 'form',
    };
  }

  *#refusals(command: ConfigSet, change: Change | undefined): Iterable<Refusal> {
    const place = namespaceProblem(this.#context.draft, command.ns);
    if (place !== undefined) yield place;
    else if (change !== undefined) yield* refusalsOfStaged(this.#context, command, change);
  }
}

const problemOf = ({ message, pointer = '' }: Refusal): Problem => ({ message, pointer });

const shown = (Code: string, problem: Problem): EntryProblem => ({
  Code,
  Message: problem.message,
  Pointer: problem.pointer,
  Expected: problem.expected ?? '',
  Got: problem.got ?? '',
  Hint: problem.hint ?? '',
});
