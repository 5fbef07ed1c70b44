/** A reader of `GET /v1/events`, frame by frame. */
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** A change of an object, or of rights, in a frame. */
export interface EventShown {
  readonly Topic: string;
  readonly Type: string;
  readonly Key: string;
  readonly Name: string;
  readonly FilterKeys: readonly string[];
  readonly Time: string;
  readonly Author: {
    readonly Description: string;
    readonly Identity?: object;
  } | null;
  readonly Payload: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A frame of the stream. */
export interface Frame {
  readonly id: number | undefined;
  readonly event: string;
  readonly data: {
    readonly Index: number;
    readonly Events: readonly [EventShown, ...EventShown[]];
    readonly From?: number;
    readonly To?: number;
    readonly Reason?: string;
  };
}

export class EventReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #answer: IncomingMessage;
  readonly #frames: Frame[] = [];
  #text = '';
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(answer: IncomingMessage) {
    this.status = answer.statusCode!;
    this.headers = answer.headers;
    this.#answer = answer;
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => this.#take(text));
    for (const end of ['close', 'end', 'error']) answer.on(end, () => this.#end());
  }

  /** Opens a stream. `query` is that of the path. */
  static open(
    url: string,
    query: string,
    { token = '', lastId }: { readonly token?: string; readonly lastId?: number | string } = {},
  ): Promise<EventReader> {
    const headers = {
      ...(token !== '' && { 'x-consul-token': token }),
      ...(lastId !== undefined && { 'last-event-id': String(lastId) }),
    };
    return new Promise((resolve, reject) => {
      const sent = get(`${url}/v1/events${query}`, { headers, agent: false }, (answer) =>
        resolve(new EventReader(answer)),
      );
      sent.on('error', reject);
    });
  }

  /** Whether the server has ended the stream, or the connection is gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The index after which it begins. */
  get start(): number {
    return Number(this.headers['x-consul-index']);
  }

  /** Resolves with the next frame; with undefined at the end. */
  async next(): Promise<Frame | undefined> {
    while (this.#frames.length === 0) {
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#frames.shift();
  }

  /** Resolves with the next frame that is one of changes. */
  async change(): Promise<Frame> {
    const frame = await this.next();
    if (frame?.event === 'progress') return this.change();
    if (frame?.event !== 'change') throw new Error(`no change: ${JSON.stringify(frame)}`);
    return frame;
  }

  /** Reads no more from the connection, or goes on. */
  pause(): void {
    this.#answer.pause();
  }
  resume(): void {
    this.#answer.resume();
  }

  close(): void {
    this.#answer.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const fields = new Map(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      if (!fields.has('event')) continue;
      const id = fields.get('id');
      this.#frames.push({
        id: id === undefined ? undefined : Number(id),
        event: fields.get('event')!,
        data: JSON.parse(fields.get('data')!),
      });
    }
    this.#wake?.();
  }

  #end(): void {
    this.#isOver = true;
    this.#wake?.();
  }
}
