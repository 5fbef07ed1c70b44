/** One service with those that may call it, and those that it may call. */
import { useState } from 'preact/hooks';
import { SelectField } from '../parts/field.js';
import { Panel } from '../parts/panel.js';
import { Scroll } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { ANY, type Decision, type Rules } from './decide.js';

const T = TEXT.intentions;
const WIDTH = 180;
const HEIGHT = 30;
const GAP_X = 110;
const STEP_Y = HEIGHT + 8;
/** Characters of a name that fit into a box. */
const NAME_LENGTH = 22;

interface Neighbour {
  readonly name: string;
  readonly decision: Decision;
}

/** The picture, and the same as two lists. A service of the picture becomes its middle. */
export function Neighbours({
  rules,
  service,
  onChoose,
}: {
  rules: Rules;
  service: string;
  onChoose: (service: string) => void;
}) {
  const names = [...new Set([...rules.destinations, ...rules.sources])].filter(
    (name) => name !== ANY,
  );
  const [chosen, setChosen] = useState(service || names[0] || '');
  const choose = (next: string): void => {
    setChosen(next);
    onChoose(next);
  };
  const others = [...names.filter((name) => name !== chosen), ANY];
  const may = ({ decision }: Neighbour): boolean => decision.is !== 'deny';
  const callers = others
    .map((name) => ({ name, decision: rules.decide(name, chosen) }))
    .filter(may);
  const called = others.map((name) => ({ name, decision: rules.decide(chosen, name) })).filter(may);
  return (
    <>
      <SelectField label={TEXT.field.service} options={names} value={chosen} onInput={choose} />
      <Picture service={chosen} callers={callers} called={called} onChoose={choose} />
      <div class="sides">
        <Side title={T.callers(chosen)} all={callers} none={T.noCallers} onChoose={choose} />
        <Side title={T.called(chosen)} all={called} none={T.noCalled} onChoose={choose} />
      </div>
    </>
  );
}

const cut = (text: string): string =>
  text.length <= NAME_LENGTH ? text : `${text.slice(0, NAME_LENGTH - 1)}…`;

function Picture({
  service,
  callers,
  called,
  onChoose,
}: {
  service: string;
  callers: readonly Neighbour[];
  called: readonly Neighbour[];
  onChoose: (service: string) => void;
}) {
  const rows = Math.max(callers.length, called.length, 1);
  const height = rows * STEP_Y;
  const middle = height / 2;
  const x = [0, WIDTH + GAP_X, 2 * (WIDTH + GAP_X)] as const;
  const column = (all: readonly Neighbour[], isLeft: boolean) =>
    all.map(({ name, decision }, nth) => {
      const top = middle + (nth - all.length / 2) * STEP_Y + 4;
      const y = top + HEIGHT / 2;
      const [from, to] = isLeft ? [WIDTH, x[1]] : [x[1] + WIDTH, x[2]];
      const [y1, y2] = isLeft ? [y, middle] : [middle, y];
      return (
        <g key={name} class="box">
          <path
            class={decision.is === 'requests' ? 'edge failover' : 'edge'}
            d={`M${from},${y1} C${from + GAP_X / 2},${y1} ${to - GAP_X / 2},${y2} ${to},${y2}`}
          />
          <Box name={name} x={isLeft ? x[0] : x[2]} y={top} onChoose={onChoose} />
        </g>
      );
    });
  return (
    <Scroll label={T.picture} kind="scroll picture">
      <svg
        role="img"
        aria-label={T.label(service, callers.length, called.length)}
        width={x[2] + WIDTH}
        height={height}
      >
        {column(callers, true)}
        {column(called, false)}
        <g class="box router">
          <Box name={service} x={x[1]} y={middle - HEIGHT / 2} />
        </g>
      </svg>
    </Scroll>
  );
}

function Box({
  name,
  x,
  y,
  onChoose,
}: {
  name: string;
  x: number;
  y: number;
  onChoose?: (service: string) => void;
}) {
  const isService = name !== ANY && onChoose !== undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the lists below do the same by keys
    <g
      class={isService ? 'link' : undefined}
      onClick={isService ? () => onChoose(name) : undefined}
    >
      <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx="6" />
      <text class="name" x={x + 10} y={y + 20}>
        {name === ANY ? T.any : cut(name)}
      </text>
    </g>
  );
}

function Side({
  title,
  all,
  none,
  onChoose,
}: {
  title: string;
  all: readonly Neighbour[];
  none: string;
  onChoose: (service: string) => void;
}) {
  return (
    <Panel title={title}>
      {all.length === 0 && <p>{none}</p>}
      <ul>
        {all.map(({ name, decision }) => (
          <li key={name}>
            {name === ANY ? (
              T.any
            ) : (
              <button type="button" class="as-link" onClick={() => onChoose(name)}>
                {name}
              </button>
            )}
            {decision.is === 'requests' && <span class="quiet"> {T.words.requests}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
