/** The setting `audit.sinks`: where audit records go (beyond.md 5.1). */
import { parseDuration } from '../languages/duration.js';

/** A sink as it is configured; see docs/audit.md for each member. */
export interface SinkSettings {
  readonly name: string;
  readonly type: 'file' | 'stdout';
  /** Of a file. */
  readonly path: string;
  readonly mode: number;
  readonly scope: 'writes' | 'all';
  readonly deliveryGuarantee: 'best-effort' | 'required';
  readonly rotateBytes: number;
  readonly rotateMs: number;
  /** Rotated files that are kept; 0 for all. */
  readonly rotateMaxFiles: number;
  /** A file with the key of the chain: 32 bytes in base64. */
  readonly keyFile: string | undefined;
  readonly diff: boolean;
  readonly granted: boolean;
}

/** The sinks as they are written, by name. */
export type SentSinks = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Sinks of a node: each request is written to all of them. */
const SINKS_MAX = 4;
const text = { type: 'string', minLength: 1 };
/** The JSON schema of the setting. */
export const SINKS_SCHEMA = {
  type: 'object',
  maxProperties: SINKS_MAX,
  propertyNames: { pattern: '^[A-Za-z0-9_-]{1,64}$' },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      type: { enum: ['file', 'stdout'] },
      path: text,
      mode: { type: 'string', pattern: '^0?[0-7]{3}$' },
      format: { enum: ['json'] },
      scope: { enum: ['writes', 'all'] },
      deliveryGuarantee: { enum: ['best-effort', 'required'] },
      rotateBytes: { type: 'integer', minimum: 4096, maximum: 2 ** 40 },
      rotateDuration: text,
      rotateMaxFiles: { type: 'integer', minimum: 0, maximum: 100_000 },
      keyFile: text,
      diff: { type: 'boolean' },
      granted: { type: 'boolean' },
    },
  },
} as const;

const DEFAULTS = {
  type: 'file',
  path: '',
  scope: 'writes',
  deliveryGuarantee: 'best-effort',
  rotateBytes: 25_165_824,
  rotateMaxFiles: 15,
  keyFile: undefined,
  diff: true,
  granted: true,
};
const DEFAULT_DURATION = '24h';
/** The shortest time after which a file is rotated by its age. */
const MINUTE_MS = 60_000;

const durationMs = (sent: unknown): number | undefined => {
  const parsed = parseDuration(String(sent));
  return parsed.ok ? parsed.nanoseconds / 1e6 : undefined;
};

/** Returns what the schema cannot say is wrong, a line for each fault. */
export function sinkFaults(sent: SentSinks): string[] {
  const faults: string[] = [];
  const paths = new Map<string, string>();
  let stdouts = 0;
  for (const [name, { type = 'file', path, rotateDuration }] of Object.entries(sent)) {
    const key = `audit.sinks.${name}`;
    if (type === 'stdout') {
      stdouts += 1;
      if (path !== undefined) faults.push(`${key}.path: a sink of type stdout has no path`);
    } else if (typeof path !== 'string') faults.push(`${key}.path: is required for a file`);
    else if (paths.has(path))
      faults.push(`${key}.path: is the same as that of audit.sinks.${paths.get(path)}`);
    else paths.set(path, name);
    const ms = rotateDuration === undefined ? MINUTE_MS : durationMs(rotateDuration);
    if (ms === undefined || ms < MINUTE_MS)
      faults.push(`${key}.rotateDuration: must be a duration of at least 1m, such as 24h`);
  }
  if (stdouts > 1) faults.push('audit.sinks: only one sink can be of type stdout');
  return faults;
}

/** Returns checked sinks with their defaults. */
export const sinksOf = (sent: SentSinks): readonly SinkSettings[] =>
  Object.entries(sent).map(([name, { rotateDuration = DEFAULT_DURATION, mode, ...rest }]) => ({
    ...DEFAULTS,
    ...(rest as object),
    name,
    mode: Number.parseInt(String(mode ?? '0600'), 8),
    rotateMs: durationMs(rotateDuration)!,
  })) as readonly SinkSettings[];
