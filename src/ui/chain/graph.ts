/** A discovery chain as a graph, laid out in columns. Picture and list are made from it. */

import type { Chain, ChainNode, RouteDefinition } from '../../api/endpoints/config.js';

/** A step of the picture. */
export interface Box {
  readonly id: string;
  readonly type: 'router' | 'splitter' | 'resolver' | 'target';
  readonly name: string;
  /** The service whose entry the step comes from. */
  readonly service: string;
  /** The namespace of that entry, if it is not the chain's own. */
  readonly namespace: string | undefined;
  readonly column: number;
  readonly row: number;
}

/** A way from one step to the next. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** The steps of a chain with their ways. */
export interface Graph {
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
}

const COLUMNS = { router: 0, splitter: 1, resolver: 2, target: 3 } as const;

/** Says what a route matches, such as `PathPrefix /admin`. */
function matchOf({ Match }: RouteDefinition): string {
  const http = Match?.HTTP ?? {};
  const parts = Object.entries(http).map(([name, value]) =>
    typeof value === 'string' ? `${name} ${value}` : `${name} ${JSON.stringify(value)}`,
  );
  return parts.length === 0 ? 'PathPrefix /' : parts.join(', ');
}

/** Returns the ways out of a node. */
export function edgesOf(from: string, node: ChainNode): readonly Edge[] {
  if (node.Routes !== undefined)
    return node.Routes.map(({ Definition, NextNode }) => ({
      from,
      to: NextNode,
      label: matchOf(Definition),
    }));
  if (node.Splits !== undefined)
    return node.Splits.map(({ Weight, NextNode }) => ({
      from,
      to: NextNode,
      label: `${Weight} %`,
    }));
  if (node.Resolver === undefined) return [];
  const { Target, Failover } = node.Resolver;
  const others = (Failover?.Targets ?? []).map((to, at) => ({
    from,
    to,
    label: `failover ${at + 1}`,
  }));
  return [{ from, to: Target, label: '' }, ...others];
}

/** Returns what the ways out of a node say, in their order. */
export const labelsOf = ({ Nodes }: Chain, id: string): readonly string[] => {
  const node = Nodes[id];
  return node === undefined ? [] : edgesOf(id, node).map(({ label }) => label);
};

/** Lays a chain out: what can be reached from its start, in columns by type. */
export function graphOf(chain: Chain): Graph {
  const { StartNode, Nodes } = chain;
  const order: string[] = [StartNode];
  const edges: Edge[] = [];
  for (let at = 0; at < order.length; at += 1) {
    const node = Nodes[order[at]!];
    if (node === undefined) continue;
    for (const edge of edgesOf(order[at]!, node)) {
      edges.push(edge);
      if (!order.includes(edge.to)) order.push(edge.to);
    }
  }
  const columnOf = (id: string): number => COLUMNS[Nodes[id]?.Type ?? 'target'];
  const counts = Object.values(COLUMNS).map(
    (column) => order.filter((id) => columnOf(id) === column).length,
  );
  /** The steps that a way into this one passes by: it goes below them. */
  const passedBy = (id: string): number => {
    const first = edges.filter(({ to }) => to === id).map(({ from }) => columnOf(from));
    return Math.max(0, ...counts.slice(Math.min(...first) + 1, columnOf(id)));
  };
  const rows = counts.map(() => 0);
  const near = order.filter((id) => passedBy(id) === 0);
  const boxes = [...near, ...order.filter((id) => passedBy(id) > 0)].map((id): Box => {
    const column = columnOf(id);
    const row = Math.max(rows[column]!, passedBy(id));
    rows[column] = row + 1;
    return { id, column, row, ...namesOf(chain, id) };
  });
  return { boxes, edges };
}

/** Returns what a step is called. What goes without saying in this chain is left out. */
function namesOf(
  { Nodes, Targets, Namespace, Datacenter }: Chain,
  id: string,
): Pick<Box, 'type' | 'name' | 'service' | 'namespace'> {
  const node = Nodes[id];
  const name = node?.Name ?? id;
  const target = Targets[node?.Resolver?.Target ?? id];
  const here = `.${Namespace}.default.${Datacenter}`;
  return {
    type: node?.Type ?? 'target',
    name: name.endsWith(here) ? name.slice(0, -here.length) : name,
    service: target?.Service ?? name,
    namespace: target?.Namespace === Namespace ? undefined : target?.Namespace,
  };
}
