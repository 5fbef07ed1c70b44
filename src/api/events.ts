/** The frames of `GET /v1/events`, as its clients read them (beyond.md 6). */
import type { Author } from './endpoints/history.js';

/** A change, as the stream has it. Those of rights have neither a name nor an author. */
export interface Event {
  readonly Topic: string;
  readonly Type: string;
  readonly Key: string;
  readonly Name?: string;
  readonly Namespace?: string;
  readonly Index: number;
  readonly Time?: string | null;
  readonly Author?: Author;
  readonly Reason?: string;
}

/** Changes that may be missing. */
export interface Gap {
  readonly From: number;
  readonly To: number;
  readonly Reason: string;
}

/** A frame of the stream: its event, and its data as JSON. */
export interface Frame {
  /** The index up to which the reader has everything; undefined for frames that move nothing. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Yields the frames of the text of a stream, which comes in pieces. Skips comments. */
export async function* framesIn(pieces: AsyncIterable<string>): AsyncGenerator<Frame> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const event = field('event');
      if (event !== undefined) yield { id: field('id'), event, data: field('data') ?? '' };
    }
  }
}
