/**
 * The text of a policy as rules. Refuses everything that would have no effect, because its author
 * would believe that it grants or denies something.
 */
import { type Refusal, refusal } from '../base/errors.js';
import {
  parseRulesInSteps,
  parseRulesText,
  type RulesTree,
  readRulesText,
} from '../languages/policy-rules.js';
import { type Parsed, placesIn } from '../languages/syntax.js';
import { FAILED, interpretRules, type RulesFault, type RulesReading } from './rules-reader.js';
import type { Steps } from './steps.js';
import type { Rules } from './types.js';

/** The outcome of parseRules. */
export type RulesOutcome =
  | { readonly ok: true; readonly rules: Rules }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Parses and checks the rules of a policy in `namespace`. The message of the refusal begins with
 * `Failed to parse ACL rules: ` or `Invalid <resource> policy: ` and contains line and column.
 * With `placed` the rules carry their offsets in the text, as `sourceOf` returns it.
 */
export const parseRules = (text: string, namespace = 'default', placed = false): RulesOutcome =>
  outcomeOf(parseRulesText(text), namespace, placed);

/** Does the same in steps. The rules carry their offsets. */
export function* parseRulesSteps(text: string, namespace: string): Steps<RulesOutcome> {
  const parsed = yield* parseRulesInSteps(text);
  return outcomeOf(parsed, namespace, true);
}

function outcomeOf(parsed: Parsed<RulesTree>, namespace: string, placed: boolean): RulesOutcome {
  if (!parsed.ok) {
    const { message, line, column } = parsed.problem;
    return refused(`${FAILED}${message} at ${line}:${column}`);
  }
  const { rules, faults, source } = interpretRules(parsed.value, namespace, placed);
  const [first] = faults;
  if (first === undefined) return { ok: true, rules };
  const { line, column } = placesIn(source)(first.at);
  return refused(`${first.lead}${first.say(`${line}:${column}`)}`);
}

/**
 * Parses the rules of a stored policy, with their offsets. An invalid text grants nothing. Writes
 * of such policies are refused, so only a damaged state can contain one.
 */
export function* storedRules(text: string, namespace: string): Steps<Rules> {
  const outcome = yield* parseRulesSteps(text, namespace);
  return outcome.ok ? outcome.rules : NOTHING;
}

export const NOTHING: Rules = { scalars: {}, named: [], namespaces: [] };

/**
 * Reads as much of a text as can be read, with all of its faults: those of the syntax, and of the
 * rest of the text those that `parseRules` refuses. The rules carry their offsets.
 */
export function readRules(text: string, namespace: string): RulesReading {
  const { tree, problems } = readRulesText(text);
  const reading = interpretRules(tree, namespace, true);
  const syntax = problems.map(
    ({ at, message }): RulesFault => ({
      code: 'syntax',
      at,
      lead: FAILED,
      say: (place) => `${message} at ${place}`,
    }),
  );
  return { ...reading, faults: [...syntax, ...reading.faults] };
}

const refused = (message: string): RulesOutcome => ({
  ok: false,
  refusal: refusal('invalid', message, { pointer: '/Rules' }),
});
