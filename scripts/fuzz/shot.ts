/** What is sent on one connection, and what comes back. */

export interface Shot {
  /** The endpoint, or the kind of attack on the connection itself. */
  readonly label: string;
  /** The number of the node. */
  readonly node: number;
  /** Written one after the other, each in its own turn. */
  readonly parts: readonly Buffer[];
  /** The methods of its requests, in order: the response to a HEAD has no body. */
  readonly methods: readonly string[];
  /** Whether each request needs a response. If not, the node may close the connection instead. */
  readonly strict: boolean;
  /** Milliseconds after which the client disconnects, whatever the node does. */
  readonly leavesAfterMs?: number;
}

export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Everything that came back for a shot. */
export interface Outcome {
  readonly replies: readonly Reply[];
  /** What could not be parsed as a response. */
  readonly problem?: string;
  /** Milliseconds to the last byte. */
  readonly ms: number;
  /** Whether the connection was still open when the client gave up. */
  readonly hung: boolean;
}

/** The media type of a response that ends only when its client leaves. */
export const EVENT_STREAM = 'text/event-stream';
const EMPTY = Buffer.alloc(0);
const END_OF_HEAD = '\r\n\r\n';

/** Parses the responses of a closed connection. Throws Error if they are not valid. */
export function readReplies(bytes: Buffer, methods: readonly string[]): Reply[] {
  const replies: Reply[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(END_OF_HEAD, at);
    if (end < 0) throw new Error('an answer ends within its headers');
    const [first = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (!status) throw new Error(`an answer begins with ${JSON.stringify(first.slice(0, 60))}`);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`an answer has the header ${JSON.stringify(line)}`);
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    at = end + END_OF_HEAD.length;
    // An interim response (100 Continue) has no body and is followed by another.
    if (status < 200) continue;
    const isBodiless = methods[replies.length] === 'HEAD' || status === 204 || status === 304;
    const { body, next } = isBodiless ? { body: EMPTY, next: at } : readBody(bytes, at, headers);
    replies.push({ status, headers, body });
    at = next;
  }
  return replies;
}

function readBody(
  bytes: Buffer,
  from: number,
  headers: Readonly<Record<string, string>>,
): { body: Buffer; next: number } {
  if (headers['content-type'] === EVENT_STREAM) return { body: EMPTY, next: bytes.length };
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes, from);
  const length = Number(headers['content-length']);
  if (!Number.isInteger(length)) return { body: bytes.subarray(from), next: bytes.length };
  const next = from + length;
  if (next > bytes.length) throw new Error(`an answer of ${length} bytes was cut off`);
  return { body: bytes.subarray(from, next), next };
}

function readChunks(bytes: Buffer, from: number): { body: Buffer; next: number } {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, Math.max(at, end)), 16);
    if (end < 0 || !Number.isInteger(size) || end + 4 + size > bytes.length)
      throw new Error('an answer in chunks was cut off');
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
    if (size === 0) return { body: Buffer.concat(chunks), next: at };
  }
}
