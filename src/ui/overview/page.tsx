/** The overview: members, leader, what lags, and warnings. It reads again while it is visible. */
import { useState } from 'preact/hooks';
import type { Autopilot, Level, Server } from '../../api/endpoints/operator.js';
import { read } from '../api/client.js';
import { Problem } from '../api/problem.js';
import { useLive } from '../parts/load.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { useMay } from '../parts/rights.js';
import { Table } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { NodeFigures } from './figures.js';
import { Warnings } from './lint.js';
import { type Act, MemberAct } from './member-act.js';
import { NewestChanges } from './newest.js';
import { OwnRights } from './own-rights.js';
import { Sinks } from './sinks.js';

/** Together these let the page say within five seconds that the majority is lost. */
const LIVE = { everyMs: 2000, lateMs: 5000 };
/** How long the leader may take before the node is asked what it knows itself. */
const LEADER_MS = 1500;
/** How long the node may take for that: it asks the members, of which some may be gone. */
const OWN_MS = 3000;

interface Cluster {
  readonly state: Autopilot;
  readonly levels: Level;
  /** Whether this is what the node itself knows, and not what the leader says. */
  readonly isOwn: boolean;
}

/** Reads what the leader says; if none answers, what the node itself knows. */
async function look(signal: AbortSignal): Promise<Cluster> {
  const end = new AbortController();
  const within = (ms: number): AbortSignal =>
    AbortSignal.any([signal, end.signal, AbortSignal.timeout(ms)]);
  const view = async (ms: number, isOwn: boolean): Promise<Cluster> => {
    const how = { signal: within(ms), once: true, query: isOwn ? { stale: 'true' } : {} };
    const [state, levels] = await Promise.all([
      read<Autopilot>('/v1/operator/autopilot/state', how),
      read<Level>('/v1/operator/level', how),
    ]);
    return { state, levels, isOwn };
  };
  const mustHaveLeader = async (): Promise<void> => {
    const how = { signal: within(LEADER_MS), once: true };
    if ((await read<string>('/v1/status/leader', how)) === '') throw new Error('no leader');
  };
  try {
    const [leaders] = await Promise.all([view(LEADER_MS, false), mustHaveLeader()]);
    return leaders;
  } catch (error) {
    if (error instanceof Problem && error.status === 403) throw error;
    return await view(OWN_MS, true);
  } finally {
    end.abort();
  }
}

export function OverviewPage() {
  const { value, problem, atMs, isLate } = useLive(look, LIVE);
  const [act, setAct] = useState<Act>();
  const may = useMay('operator:write');
  const mayAct = value !== undefined && !isLate && !value.isOwn && may !== false;
  if (problem?.status === 403)
    return (
      <Page title={TEXT.page.overview}>
        <OwnRights refusal={problem} />
      </Page>
    );
  return (
    <Page title={TEXT.page.overview}>
      <ProblemNotice problem={problem} />
      {value !== undefined && (
        <>
          <Age atMs={atMs} isLate={isLate} isOwn={value.isOwn} />
          <div class={isLate ? 'late' : undefined}>
            <Summary {...value} isLate={isLate} />
            <Members {...value} onAct={mayAct ? setAct : undefined} />
          </div>
        </>
      )}
      {act !== undefined && <MemberAct {...act} onClose={() => setAct(undefined)} />}
      {(value ?? problem) !== undefined && (
        <>
          <NodeFigures />
          <Sinks />
          <Warnings />
          <NewestChanges />
        </>
      )}
    </Page>
  );
}

/** When the figures were read, and whether they are to be believed. */
function Age({ atMs, isLate, isOwn }: { atMs: number; isLate: boolean; isOwn: boolean }) {
  const time = new Date(atMs).toLocaleTimeString();
  return (
    <>
      <div role="alert" class={isLate || isOwn ? 'notice bad' : undefined}>
        {isLate ? TEXT.overview.late(time) : isOwn && TEXT.overview.own}
      </div>
      {!isLate && <p class="quiet">{TEXT.overview.asOf(time)}</p>}
    </>
  );
}

function Summary({ state, levels, isOwn, isLate }: Cluster & { isLate: boolean }) {
  const servers = Object.values(state.Servers);
  const leader = servers.find(({ ID }) => ID === state.Leader);
  const down = servers.filter(({ Healthy }) => !Healthy).map(({ Name }) => Name);
  return (
    <div class="cards">
      <div class={isLate ? 'card' : state.Healthy && !isOwn ? 'card good' : 'card bad'}>
        <h2>{TEXT.overview.health}</h2>
        <Status>
          {isOwn
            ? TEXT.overview.unknownHealth
            : state.Healthy
              ? TEXT.overview.healthy
              : TEXT.overview.unhealthy(down.join(', '))}
        </Status>
      </div>
      <div class="card">
        <h2>{TEXT.overview.leader}</h2>
        <p>{leader?.Name ?? TEXT.overview.noLeader}</p>
      </div>
      <div class="card">
        <h2>{TEXT.overview.tolerance}</h2>
        <p>{isOwn ? TEXT.overview.unknown : TEXT.overview.losses(state.FailureTolerance)}</p>
      </div>
      <div class="card">
        <h2>{TEXT.overview.level}</h2>
        <p>
          {levels.Waiting.length === 0
            ? levels.Level
            : TEXT.overview.waiting(levels.Level, levels.Waiting.join(', '))}
        </p>
      </div>
    </div>
  );
}

function Members({
  state,
  levels,
  isOwn,
  onAct,
}: Cluster & { onAct: ((act: Act) => void) | undefined }) {
  const servers = Object.values(state.Servers).sort((a, b) => (a.Name < b.Name ? -1 : 1));
  const newest = Math.max(...servers.map(({ LastIndex }) => LastIndex));
  const levelOf = ({ ID }: Server): number | string =>
    levels.Members.find((member) => member.ID === ID)?.Supported ?? TEXT.overview.unknown;
  return (
    <Table caption={TEXT.overview.members} columns={TEXT.overview.columns}>
      {servers.map((server) => (
        <tr key={server.ID}>
          <th scope="row">{server.Name}</th>
          <td>{TEXT.overview.roles[server.Status]}</td>
          <td>{healthOf(server, isOwn)}</td>
          <td>{isOwn ? '' : server.LastContact}</td>
          <td>{isOwn ? '' : server.LastIndex.toLocaleString('en')}</td>
          <td>{isOwn ? '' : (newest - server.LastIndex).toLocaleString('en')}</td>
          <td>{levelOf(server)}</td>
          <td>{server.Version}</td>
          <td>{server.Address}</td>
          <td>{onAct && server.Status !== 'leader' && <Acts server={server} onAct={onAct} />}</td>
        </tr>
      ))}
    </Table>
  );
}

/** What can be done with a member. It is rare and dangerous, so a menu hides it. */
function Acts({ server, onAct }: { server: Server; onAct: (act: Act) => void }) {
  const { Name, Status: status, Healthy } = server;
  return (
    <details class="acts">
      <summary>{TEXT.overview.acts(Name)}</summary>
      {status === 'voter' && Healthy && (
        <button type="button" onClick={() => onAct({ server, does: 'handOver' })}>
          {TEXT.overview.handOver.title(Name)}
        </button>
      )}
      <button type="button" class="danger" onClick={() => onAct({ server, does: 'remove' })}>
        {TEXT.overview.remove.title(Name)}
      </button>
    </details>
  );
}

/** The health of a member; where the node speaks for itself, whether it is connected to it. */
function healthOf({ Healthy, Meta, NodeStatus }: Server, isOwn: boolean): string {
  const { problem } = Meta;
  if (problem !== undefined) return problem;
  if (!isOwn) return Healthy ? TEXT.overview.well : TEXT.overview.failed;
  return NodeStatus === 'alive' ? TEXT.overview.connected : TEXT.overview.unconnected;
}
