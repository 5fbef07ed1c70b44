/** What the node that serves the page did in the last hour. */
import type { AgentHistory } from '../../api/endpoints/agent.js';
import { read } from '../api/client.js';
import { useLive } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';
import { Chart } from './chart.js';
import { bytes, cores, perSecond, plain, seconds } from './units.js';

/** The node has new figures every ten seconds. */
const LIVE = { everyMs: 5000, lateMs: 15_000 };
/** How long the node may take. */
const PATIENCE_MS = 4000;

interface Figure {
  readonly title: string;
  /** The figure with the chart, then others that are shown as numbers. */
  readonly of: readonly [chart: string, ...others: string[]];
  show(value: number): string;
  /** How the others are shown, if otherwise. */
  showOther?(value: number): string;
}

const T = TEXT.figures;
const FIGURES: readonly Figure[] = [
  {
    title: T.writes,
    of: ['writes_per_s', 'write_s_p50', 'write_s_p99'],
    show: perSecond,
    showOther: seconds,
  },
  {
    title: T.reads,
    of: ['reads_per_s', 'read_s_p50', 'read_s_p99'],
    show: perSecond,
    showOther: seconds,
  },
  { title: T.sync, of: ['log_sync_s_p99', 'log_sync_s_p50'], show: seconds },
  { title: T.unapplied, of: ['unapplied_entries'], show: plain },
  { title: T.loop, of: ['event_loop_delay_s_p99'], show: seconds },
  { title: T.cpu, of: ['cores'], show: cores },
  { title: T.memory, of: ['resident_bytes'], show: bytes },
  { title: T.disk, of: ['disk_free_bytes'], show: bytes },
  { title: T.held, of: ['held_queries'], show: plain },
  { title: T.refusals, of: ['refusals_per_s'], show: perSecond },
  { title: T.failures, of: ['failures_per_s'], show: perSecond },
];

/** The figures, the certificates, the last backup and the last warnings of the node. */
export function NodeFigures() {
  const { value, problem, atMs, isLate } = useLive(
    (signal) =>
      read<AgentHistory>('/v1/agent/history', {
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
        once: true,
        ns: '',
      }),
    LIVE,
  );
  if (value === undefined) return <ProblemNotice problem={problem} />;
  return (
    <section aria-labelledby="figures">
      <h2 id="figures">{T.heading(value.Node)}</h2>
      <div role="alert" class={isLate ? 'notice warn' : undefined}>
        {isLate && TEXT.overview.late(new Date(atMs).toLocaleTimeString())}
      </div>
      <div class={isLate ? 'figures late' : 'figures'}>
        {FIGURES.map((figure) => (
          <FigureCard key={figure.title} figure={figure} all={value.Series} />
        ))}
        <Elections all={value.Series} step={value.IntervalMs / 1000} />
      </div>
      <Dates {...value} />
      <LastWarnings lines={value.Warnings} />
    </section>
  );
}

/** The newest value, which was told in the last step or the one before; undefined for none. */
const newest = (values: readonly (number | null)[]): number | undefined =>
  values.slice(-2).findLast((value) => value !== null) ?? undefined;

function FigureCard({ figure, all }: { figure: Figure; all: AgentHistory['Series'] }) {
  const { title, of, show, showOther = show } = figure;
  const [values = []] = of.map((name) => all[name] ?? []);
  const now = newest(values);
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  const others = of.slice(1).flatMap((name) => {
    const value = newest(all[name] ?? []);
    const label = /p\d\d$/.exec(name)?.[0] ?? '';
    return value === undefined ? [] : [`${label} ${showOther(value)}`];
  });
  const shown = now === undefined ? T.missing : show(now);
  return (
    <div class={now === undefined ? 'figure missing' : 'figure'}>
      <h3>{title}</h3>
      <p>
        <strong>{shown}</strong> <span class="quiet">{others.join(' · ')}</span>
      </p>
      <Chart values={values} label={T.label(title, shown, show(most))} />
    </div>
  );
}

/** How often the node has followed another leader in the last hour. */
function Elections({ all, step }: { all: AgentHistory['Series']; step: number }) {
  const rates = all['leader_changes_per_s'] ?? [];
  const count = Math.round(rates.reduce<number>((sum, rate) => sum + (rate ?? 0) * step, 0));
  const [term] = (all['term'] ?? []).slice(-1);
  return (
    <div class="figure">
      <h3>{T.elections}</h3>
      <p>
        <strong>{count}</strong>{' '}
        <span class="quiet">{term === null || term === undefined ? '' : T.term(term)}</span>
      </p>
      <Chart values={rates} label={T.label(T.elections, String(count), String(count))} />
    </div>
  );
}

/** When certificates end, and when the node sent its last whole archive. */
function Dates({ Certificates, LastBackup }: AgentHistory) {
  return (
    <dl>
      {Certificates.map(({ Use, NotAfter }) => (
        <div key={Use}>
          <dt>{T.certificate(Use)}</dt>
          <dd>
            <Time at={NotAfter} />
          </dd>
        </div>
      ))}
      <div>
        <dt>{T.backup}</dt>
        <dd>{LastBackup === null ? T.noBackup : <Time at={LastBackup} />}</dd>
      </div>
    </dl>
  );
}

function LastWarnings({ lines }: { lines: AgentHistory['Warnings'] }) {
  return (
    <>
      <h3>{T.warnings}</h3>
      {lines.length === 0 && <p>{T.noWarnings}</p>}
      <ul class="log">
        {lines.slice(0, SHOWN).map(({ Time: at, Level, Event, Message, Count }) => (
          <li key={`${Event} ${Message}`} class={Level === 'error' ? 'error' : 'warning'}>
            <Time at={at} isShort /> <strong>{Level}</strong> {Message}
            {Count > 1 && <span class="quiet"> {T.times(Count)}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Warnings of the log that are shown. */
const SHOWN = 10;
