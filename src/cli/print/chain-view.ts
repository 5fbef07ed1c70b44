/** Discovery chains as text. Pure. */
import type { Chain, ChainNode, ChainTarget, RouteMatch } from '../../api/endpoints/config.js';
import { oneLine } from './text.js';

/** A line of the drawing with those below it. */
interface Branch {
  readonly line: string;
  readonly below: readonly Branch[];
}

/** Draws a chain as a tree. A node that several lead to is drawn once. */
export function chainView(chain: Chain): string {
  const { ServiceName, Namespace, Protocol, StartNode } = chain;
  const where = Namespace === 'default' ? '' : ` in ${Namespace}`;
  const head = `${ServiceName}${where} (${Protocol})`;
  const tree = { line: head, below: [nodeBranch(chain, StartNode, new Set())] };
  return `${[...linesOf(tree, '', '')].join('\n')}\n`;
}

function* linesOf({ line, below }: Branch, first: string, rest: string): Iterable<string> {
  yield `${first}${oneLine(line)}`;
  for (const [at, branch] of below.entries()) {
    const isLast = at === below.length - 1;
    yield* linesOf(branch, `${rest}${isLast ? '└─ ' : '├─ '}`, `${rest}${isLast ? '   ' : '│  '}`);
  }
}

function nodeBranch(chain: Chain, key: string, seen: Set<string>): Branch {
  const node = chain.Nodes[key];
  if (node === undefined) return { line: key, below: [] };
  const name = `${node.Type} ${node.Name}`;
  const isSeen = seen.has(key);
  seen.add(key);
  const next = (line: string, to: string): Branch => ({
    line,
    below: [nodeBranch(chain, to, seen)],
  });
  if (node.Resolver !== undefined) return resolverBranch(chain, node.Name, node.Resolver);
  if (isSeen) return { line: `${name} (drawn above)`, below: [] };
  const routes = (node.Routes ?? []).map(({ Definition, NextNode }) =>
    next(matchText(Definition.Match?.HTTP), NextNode),
  );
  const splits = (node.Splits ?? []).map(({ Weight, NextNode }) => next(`${Weight} %`, NextNode));
  return { line: name, below: [...routes, ...splits] };
}

function resolverBranch(
  { Targets, Datacenter }: Chain,
  name: string,
  { Default, Target, Failover }: NonNullable<ChainNode['Resolver']>,
): Branch {
  const shown = (id: string): string => targetText(Targets[id], id, Datacenter);
  const own = Default ? ', by default' : '';
  const below = (Failover?.Targets ?? []).map((id) => ({
    line: `if none is healthy: ${shown(id)}`,
    below: [],
  }));
  return { line: `resolver ${name}: ${shown(Target)}${own}`, below };
}

function targetText(target: ChainTarget | undefined, id: string, here: string): string {
  if (target === undefined) return id;
  const { Service, ServiceSubset: subset, Datacenter, Peer, Subset } = target;
  const filter = Subset.Filter === undefined ? '' : ` (${Subset.Filter})`;
  return [
    Service,
    subset === undefined ? '' : `, subset ${subset}${filter}`,
    Subset.OnlyPassing === true ? ', only passing' : '',
    Peer === undefined ? '' : `, of peer ${Peer}`,
    Datacenter === here || Peer !== undefined ? '' : `, in ${Datacenter}`,
  ].join('');
}

function matchText(match: RouteMatch | undefined): string {
  const { PathExact, PathPrefix, PathRegex, Methods, Header, QueryParam } = match ?? {};
  const names = (items: RouteMatch['Header']): string => items!.map(({ Name }) => Name).join(', ');
  const parts = [
    ...(Methods?.length ? [Methods.join(', ')] : []),
    ...(PathExact === undefined ? [] : [`path ${PathExact}`]),
    ...(PathPrefix === undefined ? [] : [`path ${PathPrefix}…`]),
    ...(PathRegex === undefined ? [] : [`path matches ${PathRegex}`]),
    ...(Header?.length ? [`header ${names(Header)}`] : []),
    ...(QueryParam?.length ? [`query ${names(QueryParam)}`] : []),
  ];
  return parts.length === 0 ? 'any request' : parts.join('; ');
}
