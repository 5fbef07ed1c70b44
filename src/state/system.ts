/** The first state of a cluster, its bootstrap, and replicated settings. */
import {
  ANONYMOUS_ACCESSOR,
  ANONYMOUS_SECRET,
  BUILT_IN_POLICIES,
  GLOBAL_MANAGEMENT_ID,
} from '../acl/builtin.js';
import { policyHash } from '../acl/hash.js';
import { type Refusal, refusal } from '../base/errors.js';
import { keys } from './keys.js';
import { refused, stored } from './lists.js';
import { namespaces } from './namespaces.js';
import { DEFAULT_NAMESPACE, putObject } from './object.js';
import { plantPolicy } from './policies.js';
import { plantToken } from './token-content.js';
import { secretKeyOf, tokenByAccessor } from './tokens.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

/** The ids, secret and time of a token that the cluster creates. */
export interface NewManagementToken {
  readonly accessor: string;
  readonly secret: string;
  readonly createTime: string;
}

/** Creates the first state. Every leader proposes it until it is applied. */
export interface SystemInit extends Command {
  readonly type: 'system.init';
  readonly createTime: string;
  /** The configured initial management token, whose creation is the bootstrap. */
  readonly management?: NewManagementToken;
}

/** Creates the first management token. Another one needs the index that permits it. */
export interface Bootstrap extends Command {
  readonly type: 'bootstrap';
  readonly token: NewManagementToken;
  /** The index that the operator stored in a file to permit another bootstrap. */
  readonly resetIndex?: number;
}

/**
 * Stores a replicated setting by name. With `cas` only if it equals the stored ModifyIndex, or if
 * it is 0 and there is no such setting.
 */
export interface FactSet extends Command {
  readonly type: 'fact.set';
  readonly name: 'autopilot' | 'join-tokens';
  readonly value: { readonly [field: string]: unknown };
  readonly cas?: number;
}

/** `{"Index":n}` once the first state was created. */
export const INIT_FACT = keys.fact('init');
/** `{"Index":n}` once the cluster was bootstrapped. */
const BOOTSTRAP_FACT = keys.fact('bootstrap');

/** The content of the default namespace, until it is changed. */
export const DEFAULT_CONTENT = {
  Name: DEFAULT_NAMESPACE,
  Description: 'Builtin Default Namespace',
} as const;

/** Creates the default namespace, the built-in policies and the anonymous token, unless it did. */
export const initSystem: Handler<SystemInit> = (context, { createTime, management }) => {
  const { draft, index } = context;
  if (draft.get(INIT_FACT) !== undefined) return { ok: true, value: 'false' };
  draft.put(INIT_FACT, JSON.stringify({ Index: index }));
  const home = { ...DEFAULT_CONTENT, CreateIndex: index, ModifyIndex: index };
  putObject(context, namespaces, home, undefined);
  for (const policy of BUILT_IN_POLICIES) {
    plantPolicy(context, {
      ...policy,
      Hash: policyHash(policy),
      CreateIndex: index,
      ModifyIndex: index,
      Namespace: DEFAULT_NAMESPACE,
    });
  }
  const anonymous = { accessor: ANONYMOUS_ACCESSOR, secret: ANONYMOUS_SECRET, createTime };
  plantToken(context, { ns: DEFAULT_NAMESPACE, ...anonymous }, 'Anonymous Token', []);
  if (management !== undefined) manage(context, management, 'Initial Management Token');
  return { ok: true, value: 'true' };
};

/** Bootstraps the cluster. Answers the management token. */
export const bootstrap: Handler<Bootstrap> = (context, { token, resetIndex }) => {
  const { draft } = context;
  const problem = bootstrapProblem(draft, resetIndex);
  if (problem !== undefined) return refused(problem);
  if (
    tokenByAccessor(draft, token.secret.toLowerCase()) !== undefined ||
    draft.get(keys.tokenSecret(secretKeyOf(token.secret))) !== undefined
  ) {
    const pointer = '/BootstrapSecret';
    return refused(refusal('conflict', 'BootstrapSecret is already in use', { pointer }));
  }
  return { ok: true, value: manage(context, token, 'Bootstrap Token (Global Management)') };
};

/** Returns why the cluster cannot be bootstrapped now or again; undefined if it can. */
export function bootstrapProblem(view: View, resetIndex: number | undefined): Refusal | undefined {
  if (view.get(INIT_FACT) === undefined) {
    return refusal('unavailable', 'The cluster is still starting: try again in a moment');
  }
  const done = stored<{ Index: number }>(view, BOOTSTRAP_FACT);
  if (done === undefined || resetIndex === done.Index) return undefined;
  if (resetIndex === undefined) {
    const why = `Permission denied: ACL bootstrap no longer allowed (reset index: ${done.Index})`;
    return refusal('permission_denied', why);
  }
  const why = `Invalid bootstrap reset index (specified ${resetIndex}, reset index: ${done.Index})`;
  return refusal('invalid', why);
}

function manage(context: ApplyContext, token: NewManagementToken, description: string): string {
  context.draft.put(BOOTSTRAP_FACT, JSON.stringify({ Index: context.index }));
  const ids = { ns: DEFAULT_NAMESPACE, ...token };
  return plantToken(context, ids, description, [GLOBAL_MANAGEMENT_ID]);
}

/** Stores a setting. Answers whether it was stored. */
export const setFact: Handler<FactSet> = (context, { name, value, cas }) => {
  const { draft, index } = context;
  const key = keys.fact(name);
  const before = stored<{ CreateIndex: number; ModifyIndex: number }>(draft, key);
  if (cas !== undefined && cas !== (before?.ModifyIndex ?? 0)) return { ok: true, value: 'false' };
  const CreateIndex = before?.CreateIndex ?? index;
  draft.put(key, JSON.stringify({ ...value, CreateIndex, ModifyIndex: index }));
  return { ok: true, value: 'true' };
};
