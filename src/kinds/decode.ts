/** The kinds: decodes, normalises and checks the entries that clients send. */
import { type Refusal, refusal } from '../base/errors.js';
import { hasControls } from '../base/printable.js';
import {
  anyObject,
  type Description,
  type Fields,
  isObject,
  jsonKind,
  never,
  type Type,
} from '../languages/fields.js';
import { CASE_HINT } from '../languages/respell.js';
import { nearestOf } from '../languages/suggest.js';
import { ENTRY_NAME_MAX, isLonger } from './common.js';
import type { EntryContext } from './definition.js';
import { definitionOf, isKind } from './definitions.js';
import { PAUSE, type Problem, problem, Report, refusalOf } from './problems.js';
import { targetsOf } from './references.js';
import { type ConfigEntry, type Decoded, KINDS, type Kind } from './types.js';

/** Returns the refusal of an unknown kind. `prefix` begins the sentence. */
export function unknownKind(text: string, prefix = ''): Refusal {
  const near = nearestOf(text, KINDS);
  const hint = near === undefined ? `Known kinds: ${KINDS.join(', ')}.` : `Did you mean "${near}"?`;
  const why = ELSEWHERE.includes(text) ? ', a feature that this server does not have' : '';
  const message = `${prefix}invalid config entry kind: ${text.slice(0, 64)}${why}`;
  return refusal('invalid', message, { hint });
}

/** Kinds of other editions of the API. */
const ELSEWHERE: readonly string[] = ['control-plane-request-limit', 'sameness-group'];

/** The beginning of the refusal of a body that cannot be decoded. */
export const DECODING = 'Request decoding failed';
const PREFIX = `${DECODING}: `;
/** Members of answers that a body may contain. They have no effect. */
const RESPONSE_ONLY = ['CreateIndex', 'ModifyIndex', 'Hash'];

/** A body with an entry. Which members it may have follows from the kind that it names. */
export const ENTRY_BODY: Type<Readonly<Record<string, unknown>>> = {
  ...anyObject,
  description: { is: 'free', shapeOf: shapeOfEntry },
};

const ANSWERED: Fields = Object.fromEntries(
  [...RESPONSE_ONLY, 'Namespace'].map((name) => [name, never('Of an answer.', anyObject)]),
);

function shapeOfEntry(body: Readonly<Record<string, unknown>>): Description | undefined {
  const key = keyOfKind(body);
  const kind = key === undefined ? undefined : body[key];
  if (typeof kind !== 'string' || !isKind(kind)) return undefined;
  const { fields } = definitionOf(kind).type;
  let shape = SHAPES.get(fields);
  if (shape === undefined) {
    shape = { is: 'object', fields: { ...ANSWERED, ...fields }, nullable: false };
    SHAPES.set(fields, shape);
  }
  return shape;
}
const SHAPES = new WeakMap<Fields, Description>();

/** Returns the key of the kind, in any letter case. */
const keyOfKind = (body: object): string | undefined =>
  Object.keys(body).find((key) => key.toLowerCase() === 'kind');

/** Maximum number of problems that are found in one entry, where all of them are asked for. */
const PROBLEMS_MAX = 100;

/**
 * Decodes, normalises and checks a body (parsed JSON): field names and types first, then the rules
 * of its kind. The refusal lists the first problem, or all of them for a kind that reports all, and
 * so do the problems. With `all` these are all of the fields, or else of the rules. Yields between
 * steps that may take milliseconds, so that the caller can let others run.
 */
export function* decodeInSteps(
  body: unknown,
  context: EntryContext,
  wanted: 'first' | 'all' = 'first',
): Generator<void, Decoded> {
  const found = kindOf(body);
  if (typeof found !== 'string') {
    const { pointer = '', message, hint } = found;
    const problems = [{ pointer, message, ...(hint !== undefined && { hint }) }];
    return { ok: false, refusal: found, problems };
  }
  const definition = definitionOf(found);
  const report = wanted === 'all' ? new Report(PROBLEMS_MAX) : new Report();
  const home = definition.scope === 'cluster' ? 'default' : context.namespace;
  // kindOf has found the kind in it, so it is an object.
  const fields = ownFields(body as Record<string, unknown>, { ...context, home }, report);
  const entry = definition.type.decode(fields, report);
  yield;
  const [first, ...others] = report.problems;
  if (first !== undefined) {
    const why = refusalOf([first, ...others], { prefix: PREFIX, count: report.count });
    return { ok: false, refusal: why, problems: report.problems };
  }
  const problems: Problem[] = [...entryNameProblems(entry.Name), ...displayProblems(entry.Name)];
  if (problems.length === 0) problems.push(...definition.nameProblems(entry.Name));
  if (problems.length === 0) {
    for (const one of definition.validate(entry, context)) {
      if (one === PAUSE) {
        yield;
        continue;
      }
      problems.push(one);
      const isEnough = wanted === 'all' ? problems.length >= PROBLEMS_MAX : !definition.reportsAll;
      if (isEnough) break;
    }
  }
  if (problems.length === 0) problems.push(...targetProblems(entry));
  const [worst, ...rest] = problems.map((one) => ({
    ...one,
    pointer: spelledAs(one.pointer, body),
  }));
  if (worst === undefined) return { ok: true, entry: definition.stored(entry) };
  return { ok: false, refusal: refusalOf([worst, ...rest]), problems: [worst, ...rest] };
}

/**
 * Checks the form of a stored entry without the members that the server adds: the types of its
 * fields, and their names in stored form. Returns the first problem, or undefined. It does not
 * apply the rules of the kind, which may be stricter now than when the entry was written.
 */
export function storedProblem(kind: Kind, content: Record<string, unknown>): string | undefined {
  const report = new Report();
  const entry = definitionOf(kind).type.decode(content, report);
  const [first] = report.problems;
  if (first !== undefined) return first.message;
  return isSpelledAs(entry, content) ? undefined : 'its fields are not in their stored form';
}

/** Whether both values have the same members at every level. Bodies may omit or respell members. */
function isSpelledAs(normal: unknown, stored: unknown): boolean {
  if (stored === null || typeof stored !== 'object') return (normal === null) === (stored === null);
  if (normal === null || typeof normal !== 'object') return false;
  if (Array.isArray(normal) !== Array.isArray(stored)) return false;
  const [ours, theirs] = [normal as Record<string, unknown>, stored as Record<string, unknown>];
  let present = 0;
  for (const key of Object.keys(ours)) {
    if (ours[key] === undefined) continue;
    if (!Object.hasOwn(theirs, key) || !isSpelledAs(ours[key], theirs[key])) return false;
    present += 1;
  }
  return present === Object.keys(theirs).length;
}

/** Returns a pointer to a normalised member with the spellings of the body. */
function spelledAs(pointer: string, body: unknown): string {
  let at = body;
  return pointer.replaceAll(/[^/]+/g, (part) => {
    const members = isObject(at) ? at : {};
    const own = Object.hasOwn(members, part)
      ? part
      : Object.keys(members).find((key) => key.replaceAll('_', '') === part.toLowerCase());
    at = Array.isArray(at) ? at[Number(part)] : members[own ?? part];
    return own ?? part;
  });
}

/** Returns the kind that a body names, or the refusal. */
function kindOf(body: unknown): Kind | Refusal {
  const decoding = (what: string, pointer = ''): Refusal =>
    refusal('invalid', PREFIX + what, { pointer });
  if (body !== null && jsonKind(body) !== 'map') {
    return decoding(`'' expected a map, got '${jsonKind(body)}'`);
  }
  const fields = isObject(body) ? body : {};
  const key = ['Kind', 'kind'].find((name) => Object.hasOwn(fields, name));
  if (key === undefined) {
    const what = decoding('Payload does not contain a kind/Kind key at the top level');
    return keyOfKind(fields) === undefined ? what : { ...what, hint: CASE_HINT };
  }
  const kind = fields[key];
  if (typeof kind !== 'string') {
    return decoding('Kind value in payload is not a string', `/${key}`);
  }
  return isKind(kind) ? kind : { ...unknownKind(kind, PREFIX), pointer: `/${key}` };
}

/** Returns the members that belong to the entry, without those that only answers have. */
function ownFields(
  body: Record<string, unknown>,
  context: EntryContext & { readonly home: string },
  report: Report,
): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(body)) {
    // "Kind" counts where both spellings are given.
    if (RESPONSE_ONLY.includes(key) || (key === 'kind' && Object.hasOwn(body, 'Kind'))) continue;
    if (key !== 'Namespace') {
      fields[key] = body[key];
    } else if (![null, '', context.namespace, context.home].includes(body[key] as string | null)) {
      report.within(key, () =>
        report.add(
          `invalid config key "Namespace": the entry is written to namespace ${JSON.stringify(context.namespace)}, which the parameter "ns" or the namespace header chooses`,
        ),
      );
    }
  }
  return fields;
}

const CONTROL = /[\u0000-\u001f\u007f]/;
/** Segments that clients and proxies remove from a path: `//`, `/./`, `/../`. */
export const UNCLEAN = /\/\/|\/\.\.?(?:\/|$)/;

/**
 * Checks a name. It becomes part of a state key, and of the URL that reads and deletes the entry.
 */
function* entryNameProblems(name: string): Iterable<Problem> {
  if (/\p{Surrogate}/u.test(name)) {
    yield problem('Name must be valid Unicode text', 'Name');
  }
  if (CONTROL.test(name) || UNCLEAN.test(`/${name}`)) {
    yield problem(
      'Name must fit into a URL path: no control characters and no empty, "." or ".." segments',
      'Name',
    );
  }
  if (isLonger(name, ENTRY_NAME_MAX)) {
    yield problem(`Name exceeds maximum length ${ENTRY_NAME_MAX}`, 'Name');
  }
}

/** Names are shown in terminals. Older releases took such a name, so it can be deleted. */
function* displayProblems(name: string): Iterable<Problem> {
  if (hasControls(name)) {
    yield problem(
      'Name must be plain text: ' +
        'no control characters and none that change the direction of writing',
      'Name',
    );
  }
}

/**
 * Maximum number of entries that an entry may name: each costs a state key, and a visit at every
 * change.
 */
const TARGETS_MAX = 2_000;

function* targetProblems(entry: ConfigEntry): Iterable<Problem> {
  const count = targetsOf(entry).size;
  if (count > TARGETS_MAX) {
    yield problem(
      `the entry names ${count} services, gateways, certificates and providers, at most ${TARGETS_MAX} are allowed`,
    );
  }
}

/** Checks the name of an entry to delete. Does not check that the entry exists. */
export function nameRefusal(kind: Kind, name: string): Refusal | undefined {
  const [first] = [...entryNameProblems(name), ...definitionOf(kind).nameProblems(name)];
  return first === undefined ? undefined : refusalOf([first]);
}
