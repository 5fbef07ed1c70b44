/** Structured logs: JSON lines on stderr, without secrets. */
import pino, { type DestinationStream } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/** Names whose values never leave the process, however deep they stand. */
const SECRET =
  /secret|token|password|authorization|bearer|private_?key|shared_?key|initialManagement|^rules$/i;
/** Names that match but hold no secret. */
const HARMLESS = new Set([
  ...['tokenInQuery', 'sharedKeyFile', 'joinTokenFile', 'tokens'],
  ...['initialManagementFile', 'bootstrapSecretFile', 'secretsGoneMs'],
  ...['heldPerToken', 'streamsPerToken', 'requestsPerToken', 'writesPerToken'],
]);
/** Nesting that a line of the log may have; what is deeper is left out. */
const DEPTH_MAX = 6;

/** A copy for logs and status pages: values under secret names are replaced by `hidden`. */
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

/** Characters of lines that wait for room on a full disk; later ones are dropped. */
const WAITING_MAX = 2 ** 20;

/**
 * Makes a log; `fields` are on every line. Lines are written at once: the last one before a crash
 * counts most. A log that cannot be written does not stop the node.
 */
export function createLog(level: LogLevel, fields: Fields, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: fields,
      timestamp: pino.stdTimeFunctions.isoTime,
      // withoutSecrets has made plain data of errors already
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
