/** Deliberate faults of decisions for other programs, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const EVALUATE = 'service/decisions/evaluate.js';
const SUITES = 'service/decisions/';

const faults: readonly Mutation[] = [
  one(
    'an item that cannot be decided and is permitted',
    EVALUATE,
    'return { decision: false, context: { ...this.#denial(item,',
    'return { decision: true, context: { ...this.#denial(item,',
  ),
  one(
    'a token that may not be asked about and is said not to exist',
    'service/decisions/subjects.js',
    '? NO_TOKEN : NOT_ASKED',
    '? NO_TOKEN : NO_TOKEN',
  ),
  one(
    'a slash in an action that separates it from nothing',
    'acl/application.js',
    "part.includes('/') || part.includes('%')",
    'false',
  ),
  one(
    'a prefix that is shown although it changes nothing',
    'service/decisions/prefixes.js',
    'if (allow !== before)',
    'if (true)',
  ),
  one(
    'a page of another request',
    'service/decisions/pages.js',
    'untilMs > nowMs && token === tokenOf(place, untilMs, request)',
    'untilMs > nowMs',
  ),
  one(
    'a JWT that is verified once for ever',
    'service/decisions/proofs.js',
    'Math.min(atMs + KNOWN_MS, endOf(jwt, method.Type))',
    'endOf(jwt, method.Type)',
  ),
  one(
    'a JWT that is remembered for longer when the clock is set back',
    'service/decisions/proofs.js',
    '&& begin < known.until',
    '',
  ),
  one(
    'a JWT that a method verified before it was changed',
    'service/decisions/proofs.js',
    '${Name.toLowerCase()} ${version}`',
    '${Name.toLowerCase()}`',
  ),
  one(
    'a JWT that a method verified before a restore brought another',
    'service/decisions/proofs.js',
    '`${method.ModifyIndex} ${restoredAt(view)}`',
    '`${method.ModifyIndex}`',
  ),
  one(
    'a batch that goes on after it is decided',
    EVALUATE,
    'if (ends(semantics, decided.decision))',
    'if (false)',
  ),
];

export const decisionMutations: readonly Mutation[] = faults.map((fault) => unit(fault, SUITES));
