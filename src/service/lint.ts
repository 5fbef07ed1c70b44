/** Use cases of lint: what is wrong with a policy, or likely not meant. They write nothing. */
import type { Lint } from '../acl/lint/findings.js';
import { lintPolicy } from '../acl/lint/policy.js';
import type { Authorizer } from '../acl/types.js';
import { reject } from '../errors.js';
import { bodyOf, given, type Sent, text } from '../languages/fields.js';
import { keys } from '../state/keys.js';
import { stored } from '../state/lists.js';
import { recordOf } from '../state/machine.js';
import type { Policy } from '../state/policies.js';
import { inSlices } from './event-loop.js';
import { mustBeUuid, mustRead } from './reading.js';
import type { Caller, ReadOptions, ReadOutcome, Service } from './types.js';
import type { Write } from './writing.js';

/** Who asks for lint, of which namespace, and how current the state must be. */
export interface LintRequest {
  readonly caller: Caller;
  readonly ns: string;
  readonly options: ReadOptions;
}

/** The body of a lint of a policy: its rules, or the ID of a stored policy. */
export const POLICY_LINT = bodyOf({
  Rules: given(text()),
  ID: given(text()),
  Namespace: given(text()),
});

/**
 * Permits lint in some namespace, before the body is read that may name it. Throws ApiError 403.
 */
export const mayLint = (
  service: Service,
  { caller, timeoutMs }: Omit<Write, 'ns'>,
): Promise<Authorizer> =>
  service.permit(caller, timeoutMs, (authorizer) =>
    authorizer.anywhere('acl', 'read') ? undefined : authorizer.denial('acl', 'read'),
  );

/** Lints a policy. The value is undefined if the stored one does not exist. Throws ApiError. */
export async function policyLint(
  service: Service,
  { caller, ns, options }: LintRequest,
  { Rules: sent, ID }: Sent<(typeof POLICY_LINT)['fields']>,
): Promise<ReadOutcome<string | undefined>> {
  if ((sent === undefined) === (ID === undefined)) {
    reject('invalid', 'exactly one of Rules and ID is needed', { pointer: '' });
  }
  const id = ID === undefined ? undefined : mustBeUuid(ID, 'policy ID');
  const outcome = await service.read(caller, options, ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    const value = id === undefined ? sent : stored<Policy>(view, keys.policy(ns, id))?.Rules;
    return { value, index: recordOf(view)?.index ?? 1, keys: [] };
  });
  const { value: rules } = outcome;
  if (rules === undefined) return { ...outcome, value: undefined };
  return { ...outcome, value: shown(await inSlices(lintPolicy(rules, ns))) };
}

const shown = (lint: Lint): string => JSON.stringify(lint);
