/** Structured logs on stderr, without secrets: JSON lines, or text for people. */
import pino, { type DestinationStream } from 'pino';
import type { LogEvent } from './log-events.js';
import { textLine } from './log-text.js';

/** Minimum severity of a logged line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
/** The form of the lines: text on a terminal and JSON elsewhere, or one of them. */
export type LogFormat = 'auto' | 'text' | 'json';
type Fields = Readonly<Record<string, unknown>> & { readonly event: LogEvent };

/**
 * A log. Each line has the name of its event. `fields` become members of the line, without secrets.
 */
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
  'eventStreamsPerToken',
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
export function createLog(
  { level, format }: { readonly level: LogLevel; readonly format: LogFormat },
  fields: Readonly<Record<string, unknown>>,
  destination: DestinationStream = standardError(),
): Log {
  const isTerminal = process.stderr.isTTY === true;
  const colour = isTerminal && (process.env['NO_COLOR'] ?? '') === '';
  const isText = format === 'text' || (format === 'auto' && isTerminal);
  const asText = { write: (line: string) => destination.write(textLine(line, colour)) };
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
    isText ? asText : destination,
  );
}

function standardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: true, maxLength: WAITING_MAX });
  stream.on('error', () => {});
  return stream;
}
