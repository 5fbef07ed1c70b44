/** Converts what a source shows to what is written here (moving-in.md 3 and 4). */
import { bindingRuleOf, methodOf, namespaceOf, policyOf, roleOf } from './acl-objects.js';
import { Conversion } from './conversion.js';
import { entryOf } from './entries.js';
import { anonymousOf, isAnonymous, tokenOf } from './tokens.js';
import type { Converted, ConvertOptions, MovedItem, Part, Shown, SourceState } from './types.js';

/** Returns what is to be written, and what has no counterpart. Reads no clock, changes nothing. */
export function convert(source: SourceState, options: ConvertOptions): Converted {
  const conversion = new Conversion(source, options);
  const each = <T>(list: readonly Shown[], to: (c: Conversion, one: Shown) => T | undefined) =>
    list.flatMap((one) => to(conversion, one) ?? []);
  const inside = (list: readonly Shown[], isDefault: boolean): readonly Shown[] =>
    list.filter(({ Namespace }) => (Namespace === 'default') === isDefault);
  const part = (step: Part['step'], items: readonly MovedItem[]): Part => ({ step, items });

  const parts = [
    part('policy', each(inside(source.policies, true), policyOf)),
    part('role', each(inside(source.roles, true), roleOf)),
    part('namespace', each(source.namespaces, namespaceOf)),
    part('policy', each(inside(source.policies, false), policyOf)),
    part('role', each(inside(source.roles, false), roleOf)),
    part('auth-method', each(source.authMethods, methodOf)),
    part('binding-rule', each(source.bindingRules, bindingRuleOf)),
    part('token', each(source.tokens.filter(isAnonymous), anonymousOf)),
    // Providers come before the intentions that need them.
    part('config', [
      ...each(source.entries.filter(isProvider), entryOf),
      ...each(
        source.entries.filter((one) => !isProvider(one)),
        entryOf,
      ),
    ]),
  ];
  const tokens = options.withSecrets
    ? source.tokens.flatMap((one, at) =>
        isAnonymous(one) ? [] : (tokenOf(conversion, one, at) ?? []),
      )
    : [];
  return {
    parts: parts.filter(({ items }) => items.length > 0),
    tokens,
    findings: [...source.findings, ...conversion.findings],
  };
}

const isProvider = ({ Kind }: Shown): boolean => Kind === 'jwt-provider';
