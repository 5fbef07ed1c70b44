/** What the auth methods of each type provide to selectors and bind names. */
import type { IdentityShape } from './binding.js';

/** The mappings of a Config, from a claim or a JSON pointer to one (RFC 6901) to a name. */
export interface ClaimMappings {
  /** Names in `value`. */
  readonly values: ReadonlyMap<string, string>;
  /** Names in `list`. */
  readonly lists: ReadonlyMap<string, string>;
}

const TEXT = { kind: 'string' } as const;
/** One object for all methods, so that equal selectors are compiled once. */
const SELECTABLE: IdentityShape['selectable'] = {
  kind: 'struct',
  fields: {
    value: { kind: 'map', key: 'string', of: TEXT },
    list: { kind: 'map', key: 'string', of: { kind: 'list', of: TEXT } },
  },
};

/** Returns what selectors and bind names may refer to with these mappings. */
export function shapeOfMappings({ values, lists }: ClaimMappings): IdentityShape {
  const value = [...values.values()];
  return {
    selectable: SELECTABLE,
    mapped: { value, list: [...lists.values()] },
    variables: value.map((name) => `value.${name}`),
  };
}

/** What selectors and bind names may refer to with methods of type kubernetes. */
export const KUBERNETES_SHAPE: IdentityShape = {
  selectable: {
    kind: 'struct',
    fields: {
      serviceaccount: { kind: 'struct', fields: { namespace: TEXT, name: TEXT, uid: TEXT } },
    },
  },
  mapped: {},
  variables: ['serviceaccount.namespace', 'serviceaccount.name', 'serviceaccount.uid'],
};
