/** Where a request goes in a discovery chain, and why. */
import type { Chain, ChainNode, RouteMatch } from '../../api/endpoints/config.js';

/** A request that is tried. Names of headers are in lower case. */
export interface TrialRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
}

/** One step of the way. */
export interface TrialStep {
  /** The node of the chain. */
  readonly node: string;
  readonly is: 'route' | 'no_route' | 'split' | 'target';
  /** The place of the route, counted from 0. */
  readonly nth?: number;
  /** Routes before it of which only a proxy knows whether they match. */
  readonly unsure?: readonly number[];
  /** How much of the requests go on here, in percent. */
  readonly share: number;
  /** The targets that are tried after this one. */
  readonly failover?: readonly string[];
  readonly next: readonly TrialStep[];
}

/** Members of a match that the types of clients leave out. */
interface Comparison {
  readonly Name: string;
  readonly Present?: boolean;
  readonly Exact?: string;
  readonly Prefix?: string;
  readonly Suffix?: string;
  readonly Regex?: string;
  readonly Invert?: boolean;
}
type FullMatch = RouteMatch & { readonly CaseInsensitive?: boolean };

/** Whether something matches; undefined if only a proxy knows, because of a regular expression. */
type Matches = boolean | undefined;

/** Returns whether all hold: false if one does not, whatever is not known of the others. */
const all = (found: readonly Matches[]): Matches =>
  found.includes(false) ? false : found.includes(undefined) ? undefined : true;

function compares(
  { Name, Present, Exact, Prefix, Suffix, Regex, Invert }: Comparison,
  given: ReadonlyMap<string, string>,
  isHeader: boolean,
): Matches {
  const value = given.get(isHeader ? Name.toLowerCase() : Name);
  // Proxies compare no value with an absent one, not even inverted.
  if (value === undefined) return Present === true && Invert === true;
  if (Regex) return undefined;
  const holds =
    Present ||
    (Exact !== undefined && value === Exact) ||
    (Prefix ? value.startsWith(Prefix) : false) ||
    (Suffix ? value.endsWith(Suffix) : false);
  return holds !== (Invert === true);
}

/** Returns whether a route takes a request. One without conditions takes all. */
function matches(http: RouteMatch | undefined, request: TrialRequest): Matches {
  const { PathExact, PathPrefix, PathRegex, Methods, Header, QueryParam, CaseInsensitive } =
    (http ?? {}) as FullMatch;
  const fold = (text: string): string => (CaseInsensitive ? text.toLowerCase() : text);
  const path = fold(request.path);
  return all([
    !PathExact || path === fold(PathExact),
    !PathPrefix || path.startsWith(fold(PathPrefix)),
    PathRegex ? undefined : true,
    !Methods?.length || Methods.includes(request.method),
    ...(Header ?? []).map((each) => compares(each, request.headers, true)),
    ...(QueryParam ?? []).map((each) => compares(each, request.query, false)),
  ]);
}

/** Returns the way of a request from the start of a chain. */
export const trial = (chain: Chain, request: TrialRequest): TrialStep =>
  stepAt(chain, chain.StartNode, request, 100);

function stepAt(
  chain: Chain,
  id: string,
  request: TrialRequest,
  share: number,
  path: readonly string[] = [],
): TrialStep {
  const node = chain.Nodes[id];
  const go = (next: string, part = share): TrialStep =>
    stepAt(chain, next, request, part, [...path, id]);
  if (node?.Routes !== undefined) return routed(id, node.Routes, request, share, go);
  if (node?.Splits !== undefined && !path.includes(id)) {
    const next = node.Splits.map(({ Weight, NextNode }) => go(NextNode, (share * Weight) / 100));
    return { node: id, is: 'split', share, next };
  }
  const failover = node?.Resolver?.Failover?.Targets ?? [];
  return { node: id, is: 'target', share, failover, next: [] };
}

function routed(
  id: string,
  routes: NonNullable<ChainNode['Routes']>,
  request: TrialRequest,
  share: number,
  go: (next: string) => TrialStep,
): TrialStep {
  const unsure: number[] = [];
  for (const [nth, { Definition, NextNode }] of routes.entries()) {
    const found = matches(Definition.Match?.HTTP, request);
    if (found === undefined) unsure.push(nth);
    if (found === true) return { node: id, is: 'route', nth, unsure, share, next: [go(NextNode)] };
  }
  return { node: id, is: 'no_route', unsure, share, next: [] };
}

/** Returns the nodes that a request passes, with those of its targets. */
export const nodesOf = (step: TrialStep): readonly string[] => [
  step.node,
  ...step.next.flatMap(nodesOf),
];

/** Reads lines such as `x-user: ann`; `separator` stands between name and value. */
export const pairsIn = (
  text: string,
  separator: string,
  nameOf = (name: string): string => name,
): ReadonlyMap<string, string> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf(separator);
        const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
        return [nameOf(name.trim()), value.trim()];
      }),
  );
