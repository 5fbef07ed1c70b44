/**
 * The services, gateways, certificates and providers that an entry names. The state indexes entries
 * by these targets, so that a change finds the entries that depend on it without a scan.
 */
import { ENTRY_NAME_MAX, isLonger } from './common.js';
import { definitionOf } from './definitions.js';
import { ofKind } from './entry-types.js';
import { namesOf, type Parent, servicesOf } from './routes.js';
import { target } from './targets.js';
import type { ConfigEntry } from './types.js';

/**
 * Returns the services to which an entry forwards requests, without itself, wildcards and peers.
 * Its writer needs service:read on each.
 */
export function servicesNamed(entry: ConfigEntry): string[] {
  const own = entry.Name.toLowerCase();
  const named = new Set<string>();
  for (const name of definitionOf(entry.Kind).forwardsTo(entry)) {
    if (name === undefined || name === '' || name === '*' || name.toLowerCase() === own) continue;
    named.add(name);
  }
  return [...named];
}

/** Returns the jwt-providers that an entry names. Its writer needs the right to read them. */
export const providersNamed = (entry: ConfigEntry): ReadonlySet<string> =>
  new Set(definitionOf(entry.Kind).providers(entry));

const NO_TARGETS: ReadonlySet<string> = new Set();

/** Returns the index keys of everything that an entry names. */
export function targetsOf(entry: ConfigEntry): ReadonlySet<string> {
  const { forwards, names, namesOthers, namesProviders, providers } = definitionOf(entry.Kind);
  if (!forwards && !namesOthers && !namesProviders) return NO_TARGETS;
  const targets = new Set<string>();
  if (forwards) for (const name of servicesNamed(entry)) targets.add(target.service(name));
  for (const other of names(entry)) targets.add(other);
  if (namesProviders) for (const one of providers(entry)) targets.add(target.provider(one));
  for (const one of targets) if (!isName(one)) targets.delete(one);
  return targets;
}

/** Returns the services of an http-route or tcp-route, each once, in order. */
export const routedServices = (route: ConfigEntry): string[] =>
  route.Kind === 'tcp-route'
    ? namesOf(ofKind('tcp-route', route)?.Services)
    : servicesOf(ofKind('http-route', route)?.Rules);

/** Returns the gateways and listeners to which a route asks to bind. */
export const parentsOf = (route: ConfigEntry): readonly Parent[] =>
  (ofKind('tcp-route', route) ?? ofKind('http-route', route))?.Parents ?? [];

/** Maximum number of bytes of a target: a name with its prefix, which lower-casing may lengthen. */
const TARGET_MAX = 2 * ENTRY_NAME_MAX;
/**
 * Whether the text can be the name of an entry. Any other text is not a reference: it would corrupt
 * or bloat the index key.
 */
const isName = (text: string): boolean =>
  !text.includes('\u0000') && !/\p{Surrogate}/u.test(text) && !isLonger(text, TARGET_MAX);
