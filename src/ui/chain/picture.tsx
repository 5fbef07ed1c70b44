/** The picture of a discovery chain, and the same as a nested list. */

import type { Chain } from '../../api/endpoints/config.js';
import { Link } from '../parts/link.js';
import { Scroll } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { type Box, type Edge, edgesOf, type Graph, graphOf } from './graph.js';

const WIDTH = 150;
const HEIGHT = 52;
const GAP_X = 120;
const GAP_Y = 30;
const MARGIN = 8;
/** Characters of a name that fit into a box. */
const NAME_LENGTH = 18;
/** What a character of a label takes, at most. */
const LABEL_WIDTH = 8;

/** The kind of entry that makes a step. */
const KINDS = {
  router: 'service-router',
  splitter: 'service-splitter',
  resolver: 'service-resolver',
  target: 'service-defaults',
} as const;

interface Corner {
  readonly x: number;
  readonly y: number;
}

/** Columns without a step take no room. */
function cornersOf({ boxes }: Graph): ReadonlyMap<string, Corner> {
  const columns = [...new Set(boxes.map(({ column }) => column))].sort((a, b) => a - b);
  return new Map(
    boxes.map(({ id, column, row }) => [
      id,
      {
        x: MARGIN + columns.indexOf(column) * (WIDTH + GAP_X),
        y: MARGIN + row * (HEIGHT + GAP_Y),
      },
    ]),
  );
}

const cut = (text: string): string =>
  text.length <= NAME_LENGTH ? text : `${text.slice(0, NAME_LENGTH - 1)}…`;

/** Steps as boxes, ways as curves with weights and matches. `taken` are nodes that are marked. */
export function ChainPicture({ chain, taken }: { chain: Chain; taken: ReadonlySet<string> }) {
  const graph = graphOf(chain);
  const corners = cornersOf(graph);
  const all = [...corners.values()];
  const width = Math.max(...all.map(({ x }) => x)) + WIDTH + MARGIN;
  const height = Math.max(...all.map(({ y }) => y)) + HEIGHT + MARGIN;
  return (
    <Scroll label={TEXT.chain.picture} kind="scroll picture">
      <svg
        role="img"
        aria-label={TEXT.chain.title(chain.ServiceName)}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
      >
        {graph.edges.map((edge) => (
          <EdgeView
            key={`${edge.from} ${edge.to} ${edge.label}`}
            edge={edge}
            from={corners.get(edge.from)!}
            to={corners.get(edge.to)!}
          />
        ))}
        {graph.boxes.map((box) => (
          <BoxView key={box.id} box={box} isTaken={taken.has(box.id)} {...corners.get(box.id)!} />
        ))}
      </svg>
    </Scroll>
  );
}

function EdgeView({ edge, from, to }: { edge: Edge; from: Corner; to: Corner }) {
  const [x1, y1] = [from.x + WIDTH, from.y + HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + HEIGHT / 2];
  // The bend is in the first gap: after it nothing stands in the way. It leaves room for a short
  // label, which would cross it.
  const room = Math.min(edge.label.length * LABEL_WIDTH, GAP_X / 2);
  const bend = x1 + GAP_X - room;
  const middle = (x1 + bend) / 2;
  return (
    <>
      <path
        class={edge.label.startsWith('failover') ? 'edge failover' : 'edge'}
        d={`M${x1},${y1} C${middle},${y1} ${middle},${y2} ${bend},${y2} H${x2}`}
      />
      <text class="label" x={x2 - 6} y={y2 - 6} text-anchor="end">
        {cut(edge.label)}
      </text>
    </>
  );
}

function BoxView({ box, isTaken, x, y }: { box: Box; isTaken: boolean } & Corner) {
  return (
    <g class={isTaken ? `box ${box.type} taken` : `box ${box.type}`}>
      <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx="6" />
      <text class="type" x={x + 10} y={y + 20}>
        {TEXT.chain.types[box.type]}
      </text>
      <text class="name" x={x + 10} y={y + 39}>
        {cut(box.name)}
      </text>
    </g>
  );
}

/** The chain as a nested list. Each step leads to its entry. */
export function ChainText({ chain }: { chain: Chain }) {
  const { boxes } = graphOf(chain);
  return (
    <ul aria-label={TEXT.chain.text} class="tree">
      <StepView chain={chain} boxes={boxes} id={chain.StartNode} label="" path={[]} />
    </ul>
  );
}

function StepView({
  chain,
  boxes,
  id,
  label,
  path,
}: {
  chain: Chain;
  boxes: readonly Box[];
  id: string;
  label: string;
  path: readonly string[];
}) {
  const box = boxes.find((each) => each.id === id)!;
  const node = chain.Nodes[id];
  const next = node === undefined || path.includes(id) ? [] : edgesOf(id, node);
  return (
    <li>
      {label !== '' && <span>{label}: </span>}
      {TEXT.chain.types[box.type]}{' '}
      <Link to={['config', KINDS[box.type], box.service]} query={{ ns: box.namespace }}>
        {box.name}
      </Link>
      {next.length > 0 && (
        <ul>
          {next.map((edge) => (
            <StepView
              key={`${edge.to} ${edge.label}`}
              chain={chain}
              boxes={boxes}
              id={edge.to}
              label={edge.label}
              path={[...path, id]}
            />
          ))}
        </ul>
      )}
    </li>
  );
}
