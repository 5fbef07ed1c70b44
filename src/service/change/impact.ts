/**
 * The tokens whose rights a change touches (beyond.md 2.5, Impact): of those that the changed
 * objects are or are linked by, what enforcement decides before and after.
 */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { isGain, type RightChange, rightChanges } from '../../acl/right-changes.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import { cut } from '../../languages/shown-values.js';
import { keys } from '../../state/keys.js';
import { keysBelow, lastPart, stored } from '../../state/lists.js';
import type { ObjectPlace } from '../../state/owners.js';
import { isAlive, type Token } from '../../state/tokens.js';
import { keyOf, type View } from '../../state/types.js';
import { isHidden, Links } from '../common/reading.js';
import {
  Authorizers,
  type AuthorizersOptions,
  RIGHTS_BYTES,
  rightsIdOf,
} from '../rights/authorizers.js';

/** The most tokens that one answer examines. */
const TOKENS_MAX = 10_000;
/** Groups of tokens that one answer shows, tokens of each, and differences in rights of all. */
const GROUPS_MAX = 200;
const SAMPLE_MAX = 5;
const CHANGES_MAX = 5_000;
/** Tokens that are examined in one step. */
const TOKENS_PER_STEP = 50;

type ShownLinks = readonly { readonly ID: string; readonly Name: string }[];

/** Tokens with equal grants, and how their rights change. */
interface TokenGroup {
  readonly Tokens: number;
  /** Whether the tokens are removed. The rights that they lose are not listed. */
  readonly Removed: boolean;
  /** The links of the tokens, after the change if they stay. */
  readonly Policies: ShownLinks;
  readonly Roles: ShownLinks;
  readonly Sample: readonly { readonly AccessorID: string; readonly Description: string }[];
  readonly Gains: readonly RightChange[];
  readonly Loses: readonly RightChange[];
}

/** The tokens whose effective rights change, as answers show them. */
export interface TokensImpact {
  readonly Affected: number;
  /** Whether there are more tokens, groups or rights than were looked at or are shown. */
  readonly Truncated: boolean;
  /** Whether tokens are left out that the caller may not read. */
  readonly Hidden: boolean;
  readonly Groups: readonly TokenGroup[];
}

/** What was found, and how an answer about one object shows it. */
interface FoundImpact {
  readonly impact: TokensImpact;
  /** How many tokens lose a right, or are removed. */
  readonly losing: number;
  /** Whether there are more tokens than were looked at. */
  readonly isCut: boolean;
}

/** What an impact is found from. The views must not change meanwhile. */
interface ImpactParts extends Pick<AuthorizersOptions, 'datacenter' | 'defaultPolicy' | 'nowMs'> {
  readonly authorizer: Authorizer;
  readonly before: View;
  /** The same with the changes in it. */
  readonly after: View;
}

/** Tokens with equal grants, while they are counted. */
interface Counted {
  readonly token: Token;
  /** The token after the change; undefined if it is removed. */
  readonly kept: Token | undefined;
  readonly tokens: Token[];
  count: number;
}

/** Finds the tokens whose rights some changes touch. */
export function* tokensImpact(
  parts: ImpactParts,
  changed: readonly ObjectPlace[],
): Steps<FoundImpact> {
  const { groups, isHiding, isCut } = yield* touchedGroups(parts, changed);
  const [past, present] = [parts.before, parts.after].map(
    (view) => new Authorizers({ ...parts, view, rightsBytes: RIGHTS_BYTES }),
  ) as [Authorizers, Authorizers];
  const Groups: TokenGroup[] = [];
  let Truncated = isCut;
  let left = CHANGES_MAX;
  let [Affected, losing] = [0, 0];
  for (const group of groups) {
    const { changes, isWhole } = yield* changesOf(past, present, group);
    yield;
    Truncated ||= !isWhole;
    if (group.kept !== undefined && changes.length === 0) continue;
    Affected += group.count;
    if (group.kept === undefined || !changes.every(isGain)) losing += group.count;
    Truncated ||= Groups.length >= GROUPS_MAX || changes.length > left;
    if (Groups.length < GROUPS_MAX) Groups.push(shownGroup(parts, group, changes.slice(0, left)));
    left = Math.max(0, left - changes.length);
  }
  return { impact: { Affected, Truncated, Hidden: isHiding, Groups }, losing, isCut };
}

/** Groups the tokens that the changes may touch by their grants before and after. */
function* touchedGroups(
  { before, after, nowMs, authorizer }: ImpactParts,
  changed: readonly ObjectPlace[],
): Steps<{
  readonly groups: Iterable<Counted>;
  readonly isCut: boolean;
  readonly isHiding: boolean;
}> {
  const groups = new Map<string, Counted>();
  const seen = new Set<string>();
  let isHiding = false;
  const now = nowMs();
  const aliveIn = (view: View, key: string): Token | undefined => {
    const token = stored<Token>(view, key);
    return token !== undefined && isAlive(view, token, now) ? token : undefined;
  };
  for (const key of tokenKeys(before, changed)) {
    if (seen.has(key)) continue;
    if (seen.size >= TOKENS_MAX) return { groups: groups.values(), isCut: true, isHiding };
    seen.add(key);
    if (seen.size % TOKENS_PER_STEP === 0) yield;
    const token = aliveIn(before, key);
    if (token === undefined) continue;
    if (!authorizer.allowed('acl', 'read', undefined, token.Namespace)) {
      isHiding ||= !isHidden(authorizer, token.Namespace);
      continue;
    }
    const kept = aliveIn(after, key);
    const isAnonymous = token.AccessorID === ANONYMOUS_ACCESSOR;
    const id = [rightsIdOf(token), kept && rightsIdOf(kept), isAnonymous].join();
    const group = groups.get(id) ?? { token, kept, tokens: [], count: 0 };
    groups.set(id, group);
    group.count += 1;
    if (group.tokens.length < SAMPLE_MAX) group.tokens.push(token);
  }
  return { groups: groups.values(), isCut: false, isHiding };
}

/** Yields the keys of the tokens whose rights follow from some objects, some of them twice. */
function* tokenKeys(view: View, changed: readonly ObjectPlace[]): Iterable<string> {
  const tokenOf = (key: string): string => keyOf('token', ...key.split('\u0000').slice(-2));
  for (const { table, ns, id } of changed) {
    if (table === 'token') yield keys.token(ns, id);
    if (table === 'namespace') yield* keysBelow(view, 'token', id);
    if (table === 'method') {
      const own = keysBelow(view, 'token-by-method', ns, id.toLowerCase());
      for (const key of own) yield tokenOf(key);
    }
    if (table !== 'policy' && table !== 'role') continue;
    for (const key of keysBelow(view, `token-by-${table}`, id)) yield tokenOf(key);
    for (const key of keysBelow(view, `namespace-by-${table}`, id)) {
      yield* keysBelow(view, 'token', lastPart(key));
    }
    if (table === 'role') continue;
    for (const key of keysBelow(view, 'role-by-policy', id)) {
      yield* tokenKeys(view, [{ table: 'role', ns, id: lastPart(key) }]);
    }
  }
}

const NO_CHANGES = { changes: [], isWhole: true };

function* changesOf(
  past: Authorizers,
  present: Authorizers,
  { token, kept }: Counted,
): Steps<{ readonly changes: readonly RightChange[]; readonly isWhole: boolean }> {
  if (kept === undefined) return NO_CHANGES;
  const before = yield* past.compiled(token);
  const after = yield* present.compiled(kept);
  const { AccessorID: accessor } = token;
  const anonymous = accessor === ANONYMOUS_ACCESSOR;
  return yield* rightChanges(before.rights, after.rights, { accessor, anonymous });
}

function shownGroup(
  { before, after }: ImpactParts,
  { token, kept, tokens, count }: Counted,
  changes: readonly RightChange[],
): TokenGroup {
  const links = new Links(kept === undefined ? before : after);
  const { Policies, Roles } = kept ?? token;
  return {
    Tokens: count,
    Removed: kept === undefined,
    Policies: links.named('policy', Policies),
    Roles: links.named('role', Roles),
    Sample: tokens.map(({ AccessorID, Description }) => ({
      AccessorID,
      Description: cut(Description),
    })),
    Gains: changes.filter(isGain),
    Loses: changes.filter((change) => !isGain(change)),
  };
}
