/** The use case that shows a decision: why a request was refused, and what holds now. */
import type { Explanation } from '../../acl/explain.js';
import type { Asked } from '../../acl/reasons.js';
import type { Steps } from '../../acl/steps.js';
import type { Access, Resource } from '../../acl/types.js';
import type { ClusterNode } from '../../node/types.js';
import { isAlive, tokenByAccessor } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { made, readState } from '../common/reading.js';
import type { Caller, ReadBy, ReadContext, ReadOutcome } from '../common/types.js';
import { hidesCalls, withoutCall } from '../login/types.js';
import { ownerOf } from '../reads/long-work.js';
import type { Collected } from '../rights/origins.js';
import {
  type Decision,
  type Decisions,
  nodeCode,
  REMEMBERED_MS,
  SEGMENT_MAX,
} from './decisions.js';
import { withoutSecrets } from './secrets.js';
import { again, type ExplainParts, explained, ownToken, subjectOf } from './subject.js';

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
export async function readDecision(
  parts: ExplainParts,
  { caller, options }: ReadBy,
  decision: Decision | undefined,
): Promise<ReadOutcome<string | undefined>> {
  const { service, longWork } = parts;
  const outcome = await readState(service, { caller, options }, (context) => {
    const isSeen = decision !== undefined && maySee(context, caller, decision);
    return isSeen ? shown(parts, context, caller, decision) : undefined;
  });
  return made(outcome, (steps) => longWork.runSoon(ownerOf(service, caller), 'explain', steps));
}

/** Returns the steps that make the answer. What the caller may see is decided at once. */
function shown(
  parts: ExplainParts,
  context: ReadContext,
  caller: Caller,
  decision: Decision,
): Steps<string> {
  const about = askedAgain(parts, context, caller, decision);
  const shownLogin = loginShown(context, decision);
  const Identity = identityShown(context, caller, decision);
  // A node of an older release sends none.
  const TraceID = decision.TraceID ?? '';
  return (function* () {
    const now = 'find' in about ? yield* present(parts, decision, about) : about;
    const {
      Login: _login,
      Home: _home,
      CallerID: _caller,
      ...rest
    } = { ...decision, ...now, Identity, TraceID };
    return withoutSecrets(parts.service.view, JSON.stringify({ ...rest, Login: shownLogin }));
  })();
}

/** Returns what a caller may learn of a refused login. */
function loginShown({ authorizer }: ReadContext, { Login }: Decision): Decision['Login'] {
  if (Login === null || !hidesCalls(authorizer, Login.Namespace)) return Login;
  const { code, reason } = withoutCall({ code: Login.ReasonCode, reason: Login.Reason });
  return { ...Login, ReasonCode: code, Reason: reason };
}

/** Returns who was refused, for those who may read the token, and for itself. */
function identityShown(
  { view, authorizer }: ReadContext,
  caller: Caller,
  { AccessorID, Home, Identity }: Decision,
): Decision['Identity'] {
  const mayRead = Home != null && authorizer.allowed('acl', 'read', undefined, Home);
  return mayRead || isOwn(view, caller, AccessorID) ? (Identity ?? null) : null;
}

function maySee({ view, authorizer }: ReadContext, caller: Caller, decision: Decision): boolean {
  const { Type, AccessorID, Namespace, Home, CallerID } = decision;
  if (Type === 'evaluation') {
    if (Home !== null && authorizer.allowed('acl', 'read', undefined, Home)) return true;
    return isOwn(view, caller, AccessorID) || isOwn(view, caller, CallerID ?? null);
  }
  if (authorizer.allowed('acl', 'read', undefined, Namespace)) return true;
  return Type === 'authorization' && isOwn(view, caller, AccessorID);
}

const isOwn = (view: View, caller: Caller, accessor: string | null): boolean =>
  accessor !== null && ownToken(view, caller)?.AccessorID === accessor;

/** What is shown of the present state. */
interface Present extends Pick<Decision, 'Then'> {
  readonly Now: Explanation | null;
  readonly Changed: boolean;
}

/** The question of a decision, which is asked again. */
interface Again {
  readonly find: () => Collected | undefined;
  readonly asked: Asked;
}

/** Returns what to ask again; what is shown if there is nothing to ask. */
function askedAgain(
  parts: ExplainParts,
  { view, authorizer }: ReadContext,
  caller: Caller,
  decision: Decision,
): Again | Present {
  const { AccessorID, Resource: resource, Access: access, Segment: segment, Then } = decision;
  const nothing = { Then, Now: null, Changed: false };
  if (!AccessorID || resource === null || access === null || segment === null) return nothing;
  const token = tokenByAccessor(view, AccessorID);
  const home = token?.Namespace ?? decision.Home;
  // The rules of a token are for those who may read it, or could.
  const mayRead = home != null && authorizer.allowed('acl', 'read', undefined, home);
  if (!mayRead && !isOwn(view, caller, AccessorID)) return { ...nothing, Then: null };
  if (token === undefined) return { ...nothing, Changed: true };
  if (!isAlive(view, token, parts.nowMs())) return { ...nothing, Changed: true };
  if (segment.length >= SEGMENT_MAX) return nothing;
  const { Namespace: namespace } = decision;
  const asked = { resource: resource as Resource, access: access as Access, segment, namespace };
  return { find: again(parts, token), asked };
}

/** Explains the question of a decision by the present state. */
function* present(parts: ExplainParts, { Then }: Decision, { find, asked }: Again): Steps<Present> {
  const subject = yield* subjectOf(parts, find);
  if (subject === undefined) return { Then, Now: null, Changed: true };
  const now = yield* explained(subject, asked);
  const rule = now.Winner?.Rule ?? null;
  const isSame = !now.Allow && now.Level === Then?.Level && rule === Then.Rule;
  // Compiled rights do not tell whether a level of intentions was written or follows.
  const then = isSame && Then !== null ? { ...Then, Reason: now.Reason } : Then;
  return { Then: then, Now: now, Changed: !isSame };
}
