/** The use case that shows a decision: why a request was refused, and what holds now. */
import type { Access, Resource } from '../../acl/types.js';
import type { ClusterNode } from '../../node/types.js';
import { recordOf } from '../../state/machine-record.js';
import { isAlive, tokenByAccessor } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import type { Caller, ReadContext, ReadUseCase } from '../types.js';
import {
  type Decision,
  type Decisions,
  nodeCode,
  REMEMBERED_MS,
  SEGMENT_MAX,
} from './decisions.js';
import { withoutSecrets } from './secrets.js';
import { type ExplainParts, explained, ownToken, subjectOf } from './subject.js';

/** Where decisions are. */
export interface DecisionParts extends ExplainParts {
  readonly node: Pick<ClusterNode, 'id' | 'status' | 'decision'>;
  readonly decisions: Pick<Decisions, 'get'>;
}

/** Milliseconds in which another node must send its decision. */
const ASK_MS = 1_000;

/** The refusal for a decision that is not found. */
export const NO_DECISION =
  'No such decision: the node that refused a request remembers its last 10,000 decisions, ' +
  `each for ${REMEMBERED_MS / 60_000} minutes`;

/** Finds a decision by its id, on this node or on the one that made it. */
export async function findDecision(
  { node, decisions }: DecisionParts,
  id: string,
): Promise<Decision | undefined> {
  const [, code] = /^([0-9a-f]{8})-[0-9a-f]{16}$/.exec(id) ?? [];
  if (code === undefined) return undefined;
  const own = decisions.get(id);
  if (own !== undefined) return own;
  const makers = node.status().peers.filter((peer) => {
    return peer.id !== node.id && nodeCode(peer.id) === code;
  });
  const texts = await Promise.all(makers.map((peer) => node.decision(peer.id, id, ASK_MS)));
  const text = texts.find((found) => found !== undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Decision);
}

/** Shows a decision. The value is undefined if the caller may not see it. */
export const readDecision =
  (
    parts: ExplainParts,
    caller: Caller,
    decision: Decision | undefined,
  ): ReadUseCase<string | undefined> =>
  (context) => {
    const { view } = context;
    const index = recordOf(view)?.index ?? 1;
    const missing = { value: undefined, index, keys: [] };
    if (decision === undefined || !maySee(context, caller, decision)) return missing;
    const shown = { ...decision, ...present(parts, context, caller, decision) };
    const { Login, ...rest } = shown;
    const value = withoutSecrets(view, JSON.stringify({ ...rest, Login }));
    return { value, index, keys: [] };
  };

function maySee({ view, authorizer }: ReadContext, caller: Caller, decision: Decision): boolean {
  const { Type, AccessorID, Namespace } = decision;
  if (authorizer.allowed('acl', 'read', undefined, Namespace)) return true;
  return Type === 'authorization' && isOwn(view, caller, AccessorID);
}

const isOwn = (view: View, caller: Caller, accessor: string | null): boolean =>
  accessor !== null && ownToken(view, caller)?.AccessorID === accessor;

/** Explains the question of a decision by the present state. */
function present(
  parts: ExplainParts,
  { view, authorizer }: ReadContext,
  caller: Caller,
  decision: Decision,
): Pick<Decision, 'Then'> & { readonly Now: unknown; readonly Changed: boolean } {
  const { AccessorID, Resource: resource, Access: access, Segment: segment, Then } = decision;
  const nothing = { Then, Now: null, Changed: false };
  if (AccessorID === null || resource === null || access === null || segment === null)
    return nothing;
  const token = tokenByAccessor(view, AccessorID);
  const isAlone = token !== undefined && !isOwn(view, caller, AccessorID);
  // The rules of a token are for those who may read it.
  if (isAlone && !authorizer.allowed('acl', 'read', undefined, token.Namespace))
    return { ...nothing, Then: null };
  const isThere = token !== undefined && isAlive(view, token, parts.nowMs());
  const subject = isThere ? subjectOf(parts, view, token) : undefined;
  if (subject === undefined) return { ...nothing, Changed: true };
  if (segment.length >= SEGMENT_MAX) return nothing;
  const { Namespace: namespace } = decision;
  const asked = { resource: resource as Resource, access: access as Access, segment, namespace };
  const now = explained(subject, asked);
  const rule = now.Winner?.Rule ?? null;
  const isSame = !now.Allow && now.Level === Then?.Level && rule === Then.Rule;
  // Compiled rights do not tell whether a level of intentions was written or follows.
  const then = isSame && Then !== null ? { ...Then, Reason: now.Reason } : Then;
  return { Then: then, Now: now, Changed: !isSame };
}
