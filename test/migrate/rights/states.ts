/** States for the comparison of rights, written shortly. */
import type { PolicyShown, RightsState, TokenShown } from '../../../src/migrate/rights/types.js';

/** A state with nothing in it but what is given. */
export const stateOf = (parts: Partial<RightsState>): RightsState => ({
  reader: 'community',
  defaultPolicy: 'deny',
  datacenter: 'dc1',
  namespaces: [],
  policies: [],
  roles: [],
  tokens: [],
  ...parts,
});

/** A policy of which ID and name are the same. */
export const policyOf = (name: string, Rules: string, more: Partial<PolicyShown> = {}) => ({
  ID: name,
  Name: name,
  Rules,
  ...more,
});

/** A token that links policies. */
export const tokenOf = (
  AccessorID: string,
  policies: string[],
  more: Partial<TokenShown> = {},
) => ({
  AccessorID,
  Policies: policies.map((ID) => ({ ID })),
  ...more,
});

/** A token with one policy of a text, on its side. */
export const sideOf = (
  reader: RightsState['reader'],
  text: string,
  parts: Partial<RightsState> = {},
) =>
  stateOf({
    reader,
    policies: [policyOf('p', text)],
    tokens: [tokenOf('t', ['p'])],
    ...parts,
  });
