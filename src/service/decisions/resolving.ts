/** Whom the subjects of a request mean, in one state and after what they claim is proven. */
import type { Steps } from '../../acl/steps.js';
import { ApiError, reject } from '../../base/errors.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { nextTurn, Slice } from '../common/event-loop.js';
import { stateIndex } from '../common/reading.js';
import type { ReadContext, ReadOutcome, Service, StateRead } from '../common/types.js';
import { type Claim, claimOf, type Proof, type Proofs, versionOf } from './proofs.js';
import type { Entity } from './questions.js';
import { type NoHolder, type Resolved, type SubjectParts, Subjects } from './subjects.js';

/** What subjects are resolved with. */
export interface ResolveParts extends SubjectParts {
  readonly service: Service;
  readonly proofs: Proofs;
}

/** Who asks about subjects, and how. */
export interface ResolveRequest extends StateRead {
  /** Called before a JWT of a method is verified. Throws ApiError `too_many`. */
  readonly admit: (method: string) => void;
}

/** What a subject resolves to: holders, or why there are none; or why it is not valid. */
type Outcome = Resolved | NoHolder | { readonly code: 'invalid'; readonly reason: string };

/** What the subjects of a request resolve to. */
export type Outcomes = ReadonlyMap<Entity, Outcome>;

/** Different JWTs of one request: each may take a verification. */
const JWTS_MAX = 16;
/** Verifications of one request at a time. */
const PROVEN_AT_ONCE = 4;
/** How often a method may change while its JWTs are verified. */
const ROUNDS_MAX = 3;
/** How often the state may change between slices before all are resolved in one turn. */
const STATES_MAX = 5;

const NO_PROOFS: ReadonlyMap<Entity, Proof> = new Map();

/** Returns the outcome of a read with another value. V8 is slow to copy the members of objects. */
export const withValue = <T>(
  { index, filtered, knownLeader, lastContactMs }: ReadOutcome<unknown>,
  value: T,
): ReadOutcome<T> => ({ value, index, filtered, knownLeader, lastContactMs });

/** Resolves the subjects of a request. Throws ApiError. */
export async function resolved(
  parts: ResolveParts,
  request: ResolveRequest,
  sent: readonly Entity[],
): Promise<ReadOutcome<Outcomes>> {
  const same = distinct(sent);
  const subjects = [...same.keys()];
  const jwts = subjects.filter(({ type }) => type === 'jwt');
  if (jwts.length > JWTS_MAX)
    reject('invalid', `a request has ${jwts.length} JWTs, at most ${JWTS_MAX} are accepted`);
  let proofs: ReadonlyMap<Entity, Proof> = NO_PROOFS;
  let { options } = request;
  for (let round = 0; ; round++) {
    const resolving = new Resolving(parts, request, subjects, proofs);
    const outcome = await parts.service.read(request.caller, options, (context) =>
      resolving.answer(context),
    );
    const { outcomes, needed } = resolving;
    if (needed.length === 0 || round === ROUNDS_MAX) {
      for (const [subject, others] of same)
        for (const other of others) outcomes.set(other, outcomes.get(subject)!);
      return withValue(outcome, outcomes);
    }
    proofs = new Map([...proofs, ...(await proven(parts, request, needed))]);
    // The barrier was before: the present state is new enough.
    options = { ...options, mode: 'stale' };
  }
}

/** Proves claims, some at a time: an issuer that is slow must not delay one after the other. */
async function proven(
  { service, proofs }: ResolveParts,
  { admit }: ResolveRequest,
  needed: readonly [subject: Entity, claim: Claim][],
): Promise<ReadonlyMap<Entity, Proof>> {
  const found = new Map<Entity, Proof>();
  const left = [...needed];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [subject, claim] = next;
      found.set(subject, await proofs.prove(service.view, claim, admit));
    }
  };
  await Promise.all(Array.from({ length: PROVEN_AT_ONCE }, work));
  return found;
}

/** Returns each different subject, with the others that are equal to it. */
function distinct(sent: readonly Entity[]): ReadonlyMap<Entity, Entity[]> {
  if (sent.length === 1) return new Map([[sent[0]!, []]]);
  const all = new Map<Entity, Entity[]>();
  const byText = new Map<string, Entity>();
  let last: Entity | undefined;
  for (const subject of sent) {
    // Items mostly share the subject of their batch.
    if (subject === last || all.has(subject)) continue;
    last = subject;
    const text = JSON.stringify(subject);
    const first = byText.get(text);
    if (first !== undefined) all.get(first)!.push(subject);
    else {
      byText.set(text, subject);
      all.set(subject, []);
    }
  }
  return all;
}

/** Resolves subjects, from the first one again when the state changes between two turns. */
class Resolving {
  readonly outcomes = new Map<Entity, Outcome>();
  readonly needed: [subject: Entity, claim: Claim][] = [];
  readonly #parts: ResolveParts;
  readonly #request: ResolveRequest;
  readonly #subjects: readonly Entity[];
  readonly #proofs: ReadonlyMap<Entity, Proof>;
  #index = -1;
  #states = 0;
  /** The steps of the subject that is being resolved. */
  #steps: Steps<Outcome | Promise<void>> | undefined;

  constructor(
    parts: ResolveParts,
    request: ResolveRequest,
    subjects: readonly Entity[],
    proofs: ReadonlyMap<Entity, Proof>,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#subjects = subjects;
    this.#proofs = proofs;
  }

  answer(context: ReadContext) {
    const index = stateIndex(context.view);
    if (index !== this.#index) {
      this.#index = index;
      this.#states += 1;
      this.#steps = undefined;
      this.outcomes.clear();
      this.needed.length = 0;
    }
    const pending = this.#resolve(context);
    return { value: undefined, index, keys: [], ...(pending !== undefined && { pending }) };
  }

  /** Returns what must be waited for before it goes on; undefined once all are resolved. */
  #resolve(context: ReadContext): Promise<void> | undefined {
    const slice = this.#states > STATES_MAX ? undefined : new Slice();
    for (const subject of this.#subjects) {
      if (this.outcomes.has(subject)) continue;
      this.#steps ??= this.#stepsOf(context, subject);
      let step = this.#steps.next();
      while (!step.done) {
        if (slice?.isOver) return nextTurn();
        step = this.#steps.next();
      }
      this.#steps = undefined;
      if (step.value instanceof Promise) return step.value;
      this.outcomes.set(subject, step.value);
    }
    return undefined;
  }

  *#stepsOf(context: ReadContext, subject: Entity): Steps<Outcome | Promise<void>> {
    try {
      const claim = claimOf(context.view, subject, this.#request.ns);
      const proof = claim && provenOf(context, claim, this.#proofs.get(subject));
      const finder = new Subjects(this.#parts, context, this.#request);
      const found = yield* finder.resolve(subject, proof ?? NOT_PROVEN);
      if (claim !== undefined && proof === undefined) this.needed.push([subject, claim]);
      return found;
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'invalid') throw error;
      return { code: 'invalid', reason: error.refusal.message };
    }
  }
}

/** Returns a proof of a claim if its method is now as it was then. */
function provenOf(
  { view }: ReadContext,
  { method }: Claim,
  proof: Proof | undefined,
): Proof | undefined {
  const version = versionOf(view, stored<AuthMethod>(view, keys.method(method.ns, method.name)));
  return proof?.version === version ? proof : undefined;
}

/** Stands for what is proven before the next look, or never if the method always changes. */
const NOT_PROVEN: Proof = {
  method: { ns: '', name: '' },
  version: undefined,
  outcome: { ok: false, code: 'unreachable' },
};
