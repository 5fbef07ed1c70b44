/** The overview: members, leader, what lags, and warnings. It reads again while it is visible. */
import { useState } from 'preact/hooks';
import { ask, read } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import { Dialog } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import { useInterval, useLoad } from '../parts/load.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Scroll } from '../parts/scroll.js';
import { TEXT } from '../texts.js';
import type { Autopilot, Levels, Server } from './overview-types.js';
import { Warnings } from './warnings.js';

const LIVE_MS = 2000;

/** The first page. */
export function OverviewPage() {
  const cluster = useLoad(async (signal) => {
    const [state, levels] = await Promise.all([
      read<Autopilot>('/v1/operator/autopilot/state', { signal }),
      read<Levels>('/v1/operator/level', { signal }),
    ]);
    return { state, levels };
  }, []);
  useInterval(cluster.reload, LIVE_MS);
  const [successor, setSuccessor] = useState<Server>();
  const { value, problem } = cluster;
  return (
    <Page title={TEXT.page.overview}>
      <ProblemNotice problem={problem} />
      {value !== undefined && (
        <>
          <Summary state={value.state} levels={value.levels} />
          <Members state={value.state} levels={value.levels} onHandOver={setSuccessor} />
        </>
      )}
      {successor !== undefined && (
        <HandOver server={successor} onClose={() => setSuccessor(undefined)} />
      )}
      {(value ?? problem) !== undefined && <Warnings />}
    </Page>
  );
}

interface Cluster {
  readonly state: Autopilot;
  readonly levels: Levels;
}

function Summary({ state, levels }: Cluster) {
  const servers = Object.values(state.Servers);
  const leader = servers.find(({ ID }) => ID === state.Leader);
  const down = servers.filter(({ Healthy }) => !Healthy).map(({ Name }) => Name);
  return (
    <div class="cards">
      <div class={state.Healthy ? 'card good' : 'card bad'}>
        <h2>{TEXT.overview.health}</h2>
        <Status>
          {state.Healthy ? TEXT.overview.healthy : TEXT.overview.unhealthy(down.join(', '))}
        </Status>
      </div>
      <div class="card">
        <h2>{TEXT.overview.leader}</h2>
        <p>{leader?.Name ?? TEXT.overview.noLeader}</p>
      </div>
      <div class="card">
        <h2>{TEXT.overview.tolerance}</h2>
        <p>{TEXT.overview.losses(state.FailureTolerance)}</p>
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

function Members({ state, levels, onHandOver }: Cluster & { onHandOver: (to: Server) => void }) {
  const servers = Object.values(state.Servers).sort((a, b) => (a.Name < b.Name ? -1 : 1));
  const newest = Math.max(...servers.map(({ LastIndex }) => LastIndex));
  const levelOf = ({ ID }: Server): number | string =>
    levels.Members.find((member) => member.ID === ID)?.Supported ?? TEXT.overview.unknown;
  return (
    <Scroll label={TEXT.overview.members}>
      <table>
        <caption>{TEXT.overview.members}</caption>
        <thead>
          <tr>
            {TEXT.overview.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {servers.map((server) => (
            <tr key={server.ID}>
              <th scope="row">{server.Name}</th>
              <td>{TEXT.overview.roles[server.Status]}</td>
              <td>{healthOf(server)}</td>
              <td>{server.LastContact}</td>
              <td>{server.LastIndex.toLocaleString('en')}</td>
              <td>{(newest - server.LastIndex).toLocaleString('en')}</td>
              <td>{levelOf(server)}</td>
              <td>{server.Version}</td>
              <td>{server.Address}</td>
              <td>
                {server.Status === 'voter' && server.Healthy && (
                  <button type="button" onClick={() => onHandOver(server)}>
                    {TEXT.overview.handOverTo(server.Name)}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const healthOf = ({ Healthy, Meta }: Server): string =>
  Healthy ? TEXT.overview.well : (Meta['problem'] ?? TEXT.overview.failed);

/** Leadership is handed over once the name was typed. */
function HandOver({ server, onClose }: { server: Server; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const handOver = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const query = { id: server.ID };
      // A failed attempt holds up writes, so only the user repeats it.
      await ask('/v1/operator/raft/transfer-leader', { method: 'POST', query, once: true });
      onClose();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={TEXT.overview.handOverTo(server.Name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === server.Name) void handOver();
        }}
      >
        <TextField label={TEXT.overview.typeName(server.Name)} value={typed} onInput={setTyped} />
        <ProblemNotice problem={problem} />
        <div class="buttons">
          <button type="submit" class="main" disabled={isBusy || typed !== server.Name}>
            {TEXT.overview.handOver}
          </button>
          <button type="button" onClick={onClose}>
            {TEXT.remove.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
