/**
 * Judges the assertions of a set on the draft with the whole set in it, by the authorizers that
 * enforcement uses (beyond.md 2.5). Collects the records on which the answers rest: apply compares
 * them, and judges no rule again.
 */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Explanation } from '../../acl/explain.js';
import { parseRulesSteps } from '../../acl/rules.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import { type Asserted, SET_ASSERTS_MAX, type SentAssert } from '../../api/endpoints/sets.js';
import { ApiError, refuseIf, reject } from '../../base/errors.js';
import { lowerAscii } from '../../base/text.js';
import { cut } from '../../languages/shown-values.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { Rest } from '../../state/sets.js';
import { isAlive, lifeKeys, type Token, tokenByAccessor } from '../../state/tokens.js';
import { keyOf, type View } from '../../state/types.js';
import { accessorOf, askedOf, collectedDraft, DRAFT, draftToken } from '../explain/questions.js';
import { withoutSecrets } from '../explain/secrets.js';
import { explained, subjectOf } from '../explain/subject.js';
import { Authorizers, RIGHTS_BYTES } from '../rights/authorizers.js';
import { type Collected, stepOf } from '../rights/origins.js';

/** Records that apply compares at most: each is a look-up. */
const RESTS_MAX = 4_096;
const NAME_LENGTH_MAX = 128;

/** What assertions are judged by. */
export interface AssertParts {
  readonly datacenter: string;
  readonly defaultPolicy: 'deny' | 'allow';
  readonly nowMs: number;
  readonly authorizer: Authorizer;
  readonly ns: string;
  /** The state before the set, and the draft with the set in it. */
  readonly before: View;
  readonly after: View;
}

/** What the assertions of a set come to. */
export interface Judged {
  readonly asserts: readonly Asserted[];
  /** The sentences of those that failed, by position. */
  readonly failed: ReadonlyMap<number, string>;
  readonly rests: readonly Rest[];
}

type Subject = NonNullable<SentAssert['Subject']>;
const KINDS = ['Token', 'Role', 'Policy', 'Rules', 'Draft', 'Anonymous'] as const;

/** Judges assertions. Throws ApiError 400 for what is none, 403 and 413. */
export function* judgeAsserts(parts: AssertParts, sent: readonly SentAssert[]): Steps<Judged> {
  if (sent.length > SET_ASSERTS_MAX) {
    const why = `A set has at most ${SET_ASSERTS_MAX} assertions`;
    reject('too_large', why, { pointer: '/Assert' });
  }
  const judge = new Judge(parts);
  const asserts: Asserted[] = [];
  const failed = new Map<number, string>();
  for (const [i, one] of sent.entries()) {
    const { Problem, ...asserted } = yield* judge.one(one, `/Assert/${i}`);
    asserts.push({ ...asserted, ...(Problem !== undefined && { Problem }) });
    const { Name, Passed, Result } = asserted;
    if (!Passed)
      failed.set(i, `Assertion ${JSON.stringify(Name)} failed: ${Problem ?? Result!.Text}`);
    yield;
  }
  if (judge.rests.size > RESTS_MAX) {
    const why = `The assertions rest on ${judge.rests.size} objects, at most ${RESTS_MAX}`;
    reject('too_large', `${why} are compared`, { pointer: '/Assert' });
  }
  return { asserts, failed, rests: [...judge.rests.values()] };
}

/** A subject, or why there is none. */
type Found = { readonly collected: Collected } | { readonly problem: string };

class Judge {
  readonly rests = new Map<string, Rest>();
  readonly #parts: AssertParts;
  readonly #authorizers: Authorizers;

  constructor(parts: AssertParts) {
    const { after: view, nowMs } = parts;
    this.#parts = parts;
    const options = { ...parts, view, nowMs: () => nowMs, rightsBytes: RIGHTS_BYTES };
    this.#authorizers = new Authorizers(options);
  }

  *one(sent: SentAssert, at: string): Steps<Asserted> {
    const { Subject: subject, Expect = '', ...question } = sent;
    const asked = askedOf(question, this.#parts.ns, at);
    const Name = sent.Name || `${asked.resource}:${asked.access}`;
    if (Name.length > NAME_LENGTH_MAX) {
      reject('invalid', `Name has at most ${NAME_LENGTH_MAX} characters`, {
        pointer: `${at}/Name`,
      });
    }
    if (Expect !== 'allow' && Expect !== 'deny') {
      reject('invalid', 'Expect must be allow or deny', { pointer: `${at}/Expect` });
    }
    const found = yield* this.#subject(subject ?? {}, `${at}/Subject`);
    if ('problem' in found) return { Name, Passed: false, Result: null, Problem: found.problem };
    const { collected } = found;
    const shared = yield* this.#authorizers.compiled(collected.token);
    for (const key of shared.dependsOn) this.#restOnObject(key);
    const known = yield* subjectOf(
      { authorizers: this.#authorizers, defaultPolicy: this.#parts.defaultPolicy },
      () => collected,
    );
    const result = yield* explained(known!, asked);
    const shown = withoutSecrets(this.#parts.after, JSON.stringify(result));
    const Result = JSON.parse(shown) as Explanation;
    return { Name, Passed: result.Allow === (Expect === 'allow'), Result };
  }

  *#subject(sent: Subject, at: string): Steps<Found> {
    const given = KINDS.filter((kind) => sent[kind] !== undefined);
    const [kind] = given;
    if (kind === undefined || given.length > 1) {
      reject('invalid', `Subject needs exactly one of ${KINDS.join(', ')}`, { pointer: at });
    }
    const { Token = '', Anonymous, Namespace = '' } = sent;
    if (kind === 'Anonymous' && Anonymous !== true) {
      reject('invalid', 'Anonymous must be true', { pointer: `${at}/Anonymous` });
    }
    if (kind === 'Token') return this.#token(accessorOf(Token, `${at}/Token`));
    const ns = kind === 'Anonymous' ? DEFAULT_NAMESPACE : lowerAscii(Namespace) || this.#parts.ns;
    refuseIf(this.#parts.authorizer.denial('acl', 'read', undefined, ns));
    if (kind === 'Anonymous') return this.#token(ANONYMOUS_ACCESSOR);
    this.#restOnObject(keys.namespace(ns));
    if (kind === 'Role' || kind === 'Policy') return this.#linked(kind, ns, sent[kind]!);
    const { Rules = '', Draft: draft = {} } = sent;
    const text = kind === 'Rules' ? Rules : (draft.Rules ?? '');
    const outcome = yield* parseRulesSteps(text, ns);
    if (!outcome.ok) {
      const pointer = kind === 'Rules' ? `${at}/Rules` : `${at}/Draft/Rules`;
      throw new ApiError({ ...outcome.refusal, pointer });
    }
    for (const link of draft.Policies ?? []) this.#restOnName(keys.policyName(ns, link.Name ?? ''));
    for (const link of draft.Roles ?? []) this.#restOnName(keys.roleName(ns, link.Name ?? ''));
    try {
      const body = kind === 'Rules' ? { Rules } : draft;
      return { collected: collectedDraft(this.#parts.after, ns, body, outcome) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'unknown_reference') throw error;
      return { problem: error.refusal.message };
    }
  }

  #token(accessor: string): Found {
    const { after, authorizer, nowMs } = this.#parts;
    const token = tokenByAccessor(after, accessor);
    const isReadable =
      token !== undefined && authorizer.allowed('acl', 'read', undefined, token.Namespace);
    if (!isReadable) refuseIf(authorizer.denial('acl', 'read', undefined, this.#parts.ns));
    if (!isReadable || !isAlive(after, token, nowMs)) {
      return { problem: `there is no token ${JSON.stringify(accessor)}` };
    }
    for (const key of [keys.token(token.Namespace, accessor), ...lifeKeys(token)]) {
      this.#restOnObject(key);
    }
    return { collected: { token, first: stepOf(token) } };
  }

  /** Returns a token with one role or policy alone. */
  #linked(kind: 'Role' | 'Policy', ns: string, name: string): Found {
    const key = (kind === 'Role' ? keys.roleName : keys.policyName)(ns, name);
    this.#restOnName(key);
    const ID = this.#parts.after.get(key);
    if (ID === undefined) {
      const shown = JSON.stringify(cut(name));
      return { problem: `there is no ${kind.toLowerCase()} ${shown}` };
    }
    const links = kind === 'Role' ? { Roles: [{ ID }] } : { Policies: [{ ID }] };
    const token: Token = draftToken(ns, links);
    return { collected: { token, first: DRAFT } };
  }

  /** What links show is no part of a decision: whether the object is there is. */
  #restOnObject(key: string): void {
    if (key.startsWith(keyOf('policy-link', '')) || key.startsWith(keyOf('role-link', ''))) return;
    const { before } = this.#parts;
    const object = stored<{ readonly ModifyIndex?: number }>(before, key);
    // The record of the revocations of a method has no ModifyIndex.
    this.rests.set(key, [key, object?.ModifyIndex ?? before.get(key) ?? null]);
  }

  #restOnName(key: string): void {
    this.rests.set(key, [key, this.#parts.before.get(key) ?? null]);
  }
}
