/** The expected secondary keys of the ACL tables, computed from the objects alone. */

import { keys } from '../../src/state/keys.js';
import type { AuthMethod } from '../../src/state/methods.js';
import type { Namespace } from '../../src/state/namespaces.js';
import type { Policy } from '../../src/state/policies.js';
import type { Role } from '../../src/state/roles.js';
import type { BindingRule } from '../../src/state/rules.js';
import { expiryOf, secretKeyOf, type Token } from '../../src/state/tokens.js';
import type { View } from '../../src/state/types.js';

const SECONDARY =
  /^(policy-name|role-name|role-by-policy|token-secret|token-accessor|token-by-\w+|token-identity|subject|namespace-by-\w+|rule-by-method)\0/;

const objects = <T>(view: View, table: string): T[] =>
  [...view.keys(`${table}\0`)].map((key) => JSON.parse(view.get(key)!) as T);

/** The existing secondary keys with their values. */
export function actualKeys(view: View): Map<string, string> {
  const all = [...view.keys('')].filter((key) => SECONDARY.test(key));
  return new Map(all.map((key) => [key, view.get(key)!]));
}

/** The expected secondary keys. */
export function expectedKeys(view: View): Map<string, string> {
  const expected = new Map<string, string>();
  for (const { ID, Name, Namespace } of objects<Policy>(view, 'policy')) {
    expected.set(keys.policyName(Namespace, Name), ID);
  }
  for (const { ID, Name, Namespace, Policies = [] } of objects<Role>(view, 'role')) {
    expected.set(keys.roleName(Namespace, Name), ID);
    for (const link of Policies) expected.set(keys.roleByPolicy(link.ID, Namespace, ID), '');
  }
  for (const { ID, AuthMethod, Namespace } of objects<BindingRule>(view, 'rule')) {
    expected.set(keys.ruleByMethod(Namespace, AuthMethod, ID), '');
  }
  for (const token of objects<Token>(view, 'token')) {
    const { AccessorID: accessor, Namespace: ns, Policies = [], Roles = [] } = token;
    expected.set(keys.tokenSecret(secretKeyOf(token.SecretID)), `${ns}\0${accessor}`);
    expected.set(keys.tokenAccessor(accessor), ns);
    for (const { ID } of Policies) expected.set(keys.tokenByPolicy(ID, ns, accessor), '');
    for (const { ID } of Roles) expected.set(keys.tokenByRole(ID, ns, accessor), '');
    const expiry = expiryOf(token);
    if (expiry !== undefined) expected.set(keys.tokenByExpiry(expiry, ns, accessor), '');
    if (token.AuthMethod !== undefined) {
      const methodNs = token.AuthMethodNamespace!;
      const key = keys.tokenByMethod(methodNs, token.AuthMethod, ns, accessor);
      // Only this tells who logged in.
      const text = view.get(key) ?? '';
      expected.set(key, text);
      const [identity = '', subject] = text.split('\0');
      const method = { ns: methodNs, name: token.AuthMethod };
      const createdMs = Date.parse(token.CreateTime);
      if (identity !== '')
        expected.set(keys.tokenIdentity(method, identity, createdMs, { ns, accessor }), '');
      if (subject !== undefined) expected.set(keys.subject(method, subject, { ns, accessor }), '');
    }
  }
  for (const { Name, ACLs } of objects<Namespace>(view, 'namespace')) {
    const { PolicyDefaults = [], RoleDefaults = [] } = ACLs ?? {};
    for (const { ID } of PolicyDefaults) expected.set(keys.namespaceByPolicy(ID, Name), '');
    for (const { ID } of RoleDefaults) expected.set(keys.namespaceByRole(ID, Name), '');
  }
  return new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Wrong link names by id, and deleted ids that are remembered although nothing links to them. */
export function linkProblems(view: View): string[] {
  const problems: string[] = [];
  for (const [table, holders] of [
    ['policy', ['role-by-policy', 'token-by-policy', 'namespace-by-policy']],
    ['role', ['token-by-role', 'namespace-by-role']],
  ] as const) {
    const names = new Map(
      objects<{ ID: string; Name: string }>(view, table).map(({ ID, Name }) => [ID, Name]),
    );
    for (const key of view.keys(`${table}-link\0`)) {
      const id = key.split('\0')[1]!;
      const { Name } = JSON.parse(view.get(key)!) as { Name?: string };
      if (Name !== names.get(id)) problems.push(`${key} shows ${Name}, not ${names.get(id)}`);
      const isHeld = holders.some((holder) => [...view.keys(`${holder}\0${id}\0`)].length > 0);
      if (Name === undefined && !isHeld) problems.push(`${key} is linked by nothing`);
      names.delete(id);
    }
    for (const id of names.keys()) problems.push(`${table} ${id} has no link fact`);
  }
  return problems;
}

/** Rules and tokens whose method is gone although nothing is going to remove them. */
export function orphans(view: View): string[] {
  const methods = new Set(
    objects<AuthMethod>(view, 'method').map((one) => keys.method(one.Namespace, one.Name)),
  );
  const isVoid = (ns: string, name: string): boolean =>
    !methods.has(keys.method(ns, name)) && view.get(keys.methodRemains(ns, name)) === undefined;
  return [
    ...objects<BindingRule>(view, 'rule')
      .filter((rule) => isVoid(rule.Namespace, rule.AuthMethod))
      .map(({ ID }) => `rule ${ID}`),
    ...objects<Token>(view, 'token')
      .filter((token) => token.AuthMethod && isVoid(token.AuthMethodNamespace!, token.AuthMethod))
      .map(({ AccessorID }) => `token ${AccessorID}`),
  ];
}
