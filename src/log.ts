/** Structured logs: JSON lines on stderr, without secrets. */
import pino, { type DestinationStream } from 'pino';

/** Minimum severity of a logged line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
type Fields = Readonly<Record<string, unknown>>;

/** A log. `fields` become members of the JSON line, without secrets. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/** Names whose values never leave the process, at any depth. */
const SECRET =
  /secret|token|password|authorization|bearer|private_?key|shared_?key|initialManagement|^rules$/i;
/** Names that match, but whose values are not secret. */
const HARMLESS = new Set([
  'tokenInQuery',
  'sharedKeyFile',
  'joinTokenFile',
  'tokens',
  'initialManagementFile',
  'bootstrapSecretFile',
  'secretsGoneMs',
  'heldPerToken',
  'streamsPerToken',
  'requestsPerToken',
  'writesPerToken',
]);
/** Depth of nested values in a line of the log. Deeper ones are omitted. */
const DEPTH_MAX = 6;

/** Returns a copy for logs and status pages. `hidden` replaces the values under secret names. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (value instanceof Error)
    return {
      type: value.name,
      message: value.message,
      stack: value.stack,
      ...(value.cause !== undefined && { cause: withoutSecrets(value.cause, depth + 1) }),
    };
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET.test(name) && !HARMLESS.has(name) && item !== null && item !== undefined
        ? 'hidden'
        : withoutSecrets(item, depth + 1),
    ]),
  );
}

/** Characters of lines that wait for space on a full disk. Later lines are dropped. */
const WAITING_MAX = 2 ** 20;

/**
 * Returns a log that adds `fields` to every line. It writes lines synchronously, because the last
 * one before a crash matters most. The node continues if the log cannot be written.
 */
export function createLog(level: LogLevel, fields: Fields, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: fields,
      timestamp: pino.stdTimeFunctions.isoTime,
      // `withoutSecrets` has already converted errors to plain data.
      serializers: { err: (shown: unknown) => shown },
      formatters: {
        level: (label) => ({ level: label }),
        log: (object) => withoutSecrets(object) as Record<string, unknown>,
      },
    },
    destination ?? standardError(),
  );
}

function standardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: true, maxLength: WAITING_MAX });
  stream.on('error', () => {});
  return stream;
}
