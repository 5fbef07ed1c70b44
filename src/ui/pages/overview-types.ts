/** What the overview reads. */

/** A server of the cluster as its leader sees it. */
export interface Server {
  readonly ID: string;
  readonly Name: string;
  readonly Address: string;
  readonly NodeStatus: string;
  readonly Version: string;
  readonly LastContact: string;
  readonly LastTerm: number;
  readonly LastIndex: number;
  readonly Healthy: boolean;
  readonly Status: 'leader' | 'voter' | 'non-voter';
}

/** The answer of autopilot. */
export interface Autopilot {
  readonly Healthy: boolean;
  readonly FailureTolerance: number;
  readonly Servers: Readonly<Record<string, Server>>;
  readonly Leader: string;
}

/** The levels of the members. */
export interface Levels {
  readonly Level: number;
  readonly Supported: number;
  readonly Members: readonly { readonly ID: string; readonly Supported: number }[];
  readonly Waiting: readonly string[];
}

/** What lint finds in the cluster. */
export interface ClusterFindings {
  readonly Findings: readonly {
    readonly Ref: string;
    readonly Severity: string;
    readonly Code: string;
    readonly Message: string;
  }[];
  readonly More: number;
}
