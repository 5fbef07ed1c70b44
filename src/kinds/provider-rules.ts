/** Rules between jwt-providers and the intentions that name them. */
import { type Refusal, refusal } from '../base/errors.js';
import type { Change } from './conflicts.js';
import { type Problem, problem, refusalOf } from './problems.js';
import { providersNamed } from './references.js';
import { target } from './targets.js';
import type { ConfigEntry, EntryId, EntryLookup } from './types.js';

/**
 * Returns why a change breaks the rules, or undefined: an intention names only providers that
 * exist, and a provider that an intention of the namespace names cannot be deleted.
 */
export function providerRefusal(
  { kind, name, after }: Change,
  lookup: EntryLookup,
): Refusal | undefined {
  if (kind === 'service-intentions' && after !== undefined) return missingProviders(after, lookup);
  if (kind !== 'jwt-provider' || after !== undefined) return undefined;
  for (const _ of intentionsNaming(name, lookup)) return providerInUse(name);
  return undefined;
}

function missingProviders(entry: ConfigEntry, lookup: EntryLookup): Refusal | undefined {
  const missing = [...providersNamed(entry)].filter(
    (name) => lookup.get('jwt-provider', name) === undefined,
  );
  const [first, ...others] = missing.map(
    (name): Problem => problem(`Referenced JWT Provider does not exist. Provider Name: ${name}`),
  );
  if (first === undefined) return undefined;
  return { ...refusalOf([first, ...others]), code: 'unknown_reference' };
}

/** Yields the intentions of a namespace that name a provider, ordered by name. */
export function* intentionsNaming(provider: string, lookup: EntryLookup): Iterable<EntryId> {
  for (const { kind, name } of lookup.naming(target.provider(provider))) {
    if (kind !== 'service-intentions') continue;
    // A namespace that is being deleted loses its entries before their references.
    const entry = lookup.get(kind, name);
    if (entry !== undefined) yield { kind, name: entry.Name };
  }
}

/**
 * Returns the refusal to delete a provider that an intention names. Apply does not know who asks,
 * so it names no intention: `by` is one that the caller may read.
 */
export function providerInUse(provider: string, by?: EntryId & { readonly ns: string }): Refusal {
  const where = by === undefined || by.ns === 'default' ? '' : `, namespace: ${by.ns}`;
  const who = by === undefined ? '' : `, intention name: ${by.name}${where}`;
  return refusal(
    'conflict',
    'cannot delete jwt provider config entry referenced by an intention. ' +
      `Provider name: ${provider}${who}`,
  );
}
