/**
 * Names of query parameters. Paths that Consul does not have refuse those that they do not know,
 * and those that are sent twice with different values. Elsewhere the first of a name counts.
 * Other paths ignore them, as Consul does, and say so in a header, but refuse what looks like a
 * slip:
 *
 *     ?foo=bar     ignored; X-Consul-Warning: ignored query parameters: foo
 *     ?stal        400: Unknown query parameter "stal"; did you mean "stale"?
 */

import { COMMON, CONSISTENCY } from '../../api/endpoints/parameters.js';
import { QUERY_NAMES } from '../../api/query-names.js';
import { reject } from '../../base/errors.js';
import { changesBetween, didYouMean } from '../../languages/suggest.js';
import type { Route } from '../routes/types.js';
import type { Query } from './parameters.js';

/** Query parameters that every path accepts. Consul has other names for some. */
const EVERYWHERE = [...COMMON, ...CONSISTENCY, 'datacenter', 'token', 'cached'];
/** Parameters that the paths of Consul accept besides, with an effect or without. */
const OF_CONSUL = ['index', 'wait', 'leader'];

/** Parameters that do not change the answer, so a slip in them does no harm. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['pretty', 'cached', 'leader']);
/** Words that are mistaken for a parameter of another name. */
const MEANT: Readonly<Record<string, string>> = { namespace: 'ns', namespaces: 'ns' };

/** The most unknown names that are compared and shown. A query string may hold thousands. */
const NAMES_MAX = 5;
/** Characters of a name in the header, as it is percent-encoded. */
const SHOWN_MAX = 40;

const knownNames = new WeakMap<Route, ReadonlySet<string>>();

function namesOf(route: Route): ReadonlySet<string> {
  let names = knownNames.get(route);
  if (names === undefined) {
    const own = QUERY_NAMES[route.path] ?? [];
    names = new Set([...EVERYWHERE, ...(route.isNew ? [] : OF_CONSUL), ...own]);
    knownNames.set(route, names);
  }
  return names;
}

/**
 * Checks the names of query parameters. Returns the text of a warning about those that are ignored;
 * undefined if there are none. Throws ApiError 400 for a name that a path of this server alone does
 * not know or gets with two values, and for one that looks like a slip.
 */
export function checkNames(query: Query, route: Route): string | undefined {
  if (query.size === 0) return undefined;
  if (route.isNew === true && query.repeated !== undefined) refuseRepeated(query.repeated);
  const known = namesOf(route);
  const others: string[] = [];
  let count = 0;
  for (const name of query.keys()) {
    if (known.has(name)) continue;
    count += 1;
    if (others.length < NAMES_MAX) others.push(name);
  }
  if (count === 0) return undefined;
  for (const name of others) checkName(name, known, route.isNew === true);
  const shown = others.map((name) => encodeURIComponent(name).slice(0, SHOWN_MAX)).join(', ');
  const more = count > others.length ? ` and ${count - others.length} more` : '';
  return `ignored query parameters: ${shown}${more}`;
}

function refuseRepeated(name: string): never {
  const shown = JSON.stringify(name.slice(0, 60));
  return reject('invalid', `Parameter ${shown} is sent twice with different values: send one`);
}

/** Throws ApiError 400 for a name that is refused. */
function checkName(name: string, known: ReadonlySet<string>, isStrict: boolean): void {
  const shown = JSON.stringify(name.slice(0, 60));
  const meant = meantBy(name, known);
  if (meant !== undefined) {
    reject('invalid', `Unknown query parameter ${shown}; did you mean "${meant}"?`);
  }
  if (isStrict) {
    reject('invalid', `Unknown query parameter ${shown}${didYouMean(name, [...known])}`);
  }
}

/** Returns the parameter that a name looks like, if that changes what is answered. */
function meantBy(name: string, known: ReadonlySet<string>): string | undefined {
  const word = name.toLowerCase();
  const whole = Object.hasOwn(MEANT, word) ? MEANT[word] : undefined;
  if (whole !== undefined) return whole;
  for (const each of known) if (!WITHOUT_EFFECT.has(each) && isSlip(word, each)) return each;
  return undefined;
}

/** The length of the shortest parameter for which another name counts as a slip. */
const SHORTEST = 4;

/** Whether a name is a parameter but for one letter, two that changed places, or letter case. */
const isSlip = (word: string, parameter: string): boolean =>
  parameter.length >= SHORTEST &&
  Math.abs(word.length - parameter.length) <= 1 &&
  (changesBetween(word, parameter) <= 1 || isSwapped(word, parameter));

/** Whether two neighbouring letters of a word have changed places. */
function isSwapped(word: string, other: string): boolean {
  if (word.length !== other.length) return false;
  const at = [...word].findIndex((letter, i) => letter !== other[i]);
  const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
  return at >= 0 && swapped === other;
}
