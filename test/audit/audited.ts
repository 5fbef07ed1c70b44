/** A node in this process with an audit log, whose records are read from its memory. */
import { Audit, type AuditParts } from '../../src/audit/audit.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import { configCheck } from '../../src/service/config/config-entries.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from '../service/client.js';
import { partsOf } from '../service/serve.js';
import { Solo } from '../service/solo.js';

/** A record, as far as tests look at it. */
export interface Payload {
  readonly auth: { readonly accessor_id: string };
  readonly request: { readonly operation: string; readonly endpoint: string };
  readonly response: { readonly status: string };
  readonly namespace: string;
  readonly reason: string;
  readonly decision: string;
  readonly granted_by: readonly {
    readonly right: string;
    readonly namespace: string;
    readonly rule?: string;
    readonly policy?: { readonly name: string };
    readonly line?: number;
    readonly via?: readonly { readonly name: string }[];
  }[];
  readonly objects: readonly Readonly<Record<string, unknown>>[];
}

export interface Audited {
  readonly solo: Solo;
  readonly client: SoloClient;
  readonly audit: Audit;
  /** The newest record, or one that is so many older. */
  readonly last: (older?: number) => Payload;
  /** Its rules: `acl:write a1:1`. */
  readonly rules: (older?: number) => readonly string[];
}

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;

/** Opens a node, by default without a sink: its records are made when somebody asks for them. */
export async function audited(
  given: Partial<AuditParts> = {},
  serving: Parameters<typeof SoloClient.open> = [],
): Promise<Audited> {
  const [more = [], solo = new Solo(), options = {}] = serving;
  const { store: view, machine, authorizers } = solo;
  const audit = new Audit({
    sinks: [],
    keyOf: () => undefined,
    nodeName: 'n1',
    view,
    recent: machine.recent,
    authorizers,
    groups: { config: configCheck },
    nowMs: Date.now,
    requestMs: 5000,
    log: { failing: () => {}, written: () => {} },
    onFailing: () => {},
    ...given,
  });
  await audit.open();
  const routes = [...historyRoutes(partsOf(solo)), ...more];
  const client = await SoloClient.open(routes, solo, { audit, ...options });
  solo.must(LEVEL);
  const last = (older = 0): Payload => {
    const { records } = audit.tail(older + 1)!;
    return JSON.parse(records[older]!).payload;
  };
  const rules = (older?: number): readonly string[] =>
    last(older).granted_by.map(
      ({ right, policy, line }) => `${right} ${policy?.name ?? ''}:${line ?? ''}`,
    );
  return { solo, client, audit, last, rules };
}
