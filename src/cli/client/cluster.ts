/** What a node says about itself and its cluster, with a leader and without. */
import type { Autopilot, Level, Server } from '../../api/endpoints/operator.js';
import type { Call } from '../cli.js';
import { CliError } from '../print/error.js';

export type { Autopilot, Server } from '../../api/endpoints/operator.js';

/** What a node says about itself. */
export interface Self {
  readonly Config: {
    readonly Datacenter: string;
    readonly NodeName: string;
    readonly NodeID: string;
    readonly Version: string;
  };
  readonly Stats: {
    readonly consul: { readonly leader_addr: string };
    readonly raft: {
      readonly term: string;
      readonly commit_index: string;
      readonly applied_index: string;
    };
  };
}

/** A cluster as one node shows it. */
export interface ClusterView {
  readonly self: Self;
  readonly autopilot: Autopilot;
  readonly level: Level;
  /** Whether this is what the node itself knows, and not what the leader reports. */
  readonly isStale: boolean;
}

/** Reads the leader's view, or the node's own if it has no leader. */
export async function clusterOf({ api, options }: Call<object>): Promise<ClusterView> {
  const self = (await api.get('/v1/agent/self', { isPlain: true })).json<Self>();
  const read = async (query: Readonly<Record<string, string>>) => {
    const ask = { query, isPlain: true, isOnce: true };
    const state = await api.get('/v1/operator/autopilot/state', ask);
    const level = await api.get('/v1/operator/level', ask);
    return { autopilot: state.json<Autopilot>(), level: level.json<Level>() };
  };
  const own = async () => ({ self, ...(await read({ stale: '' })), isStale: true });
  if (options.stale === true || self.Stats.consul.leader_addr === '') return own();
  try {
    return { self, ...(await read({})), isStale: false };
  } catch (error) {
    // The leader is lost, and the node does not know it yet.
    if (error instanceof CliError && isPassing(error)) return own();
    throw error;
  }
}

const isPassing = ({ details: { code } }: CliError): boolean =>
  code === 'no_leader' || code === 'unavailable' || code === 'outcome_unknown';

/** Returns the members, the leader first, then by name. */
export const serversOf = ({ autopilot }: ClusterView): readonly Server[] =>
  Object.values(autopilot.Servers).sort(
    (one, other) =>
      Number(other.Status === 'leader') - Number(one.Status === 'leader') ||
      one.Name.localeCompare(other.Name, 'en', { numeric: true }),
  );
