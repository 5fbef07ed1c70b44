/** Requests of the Authorization API 1.0. */
import { expectDeclared } from '../openapi/declared.js';
import { type Answer, send } from './client.js';

/** An answer of the Authorization API. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Undefined if it is not JSON. */
  readonly body: Answer['body'];
}

/** How a request is sent. */
export interface Sent {
  /** None by default. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request body: an object, or its exact text. */
export type Body = object | string;

/** Sends a request to a path below /access/v1. Its answer must be as the OpenAPI document says. */
export async function authzen(
  url: string,
  below: string,
  body: Body,
  { token = '', headers = {} }: Sent = {},
): Promise<Reply> {
  const path = `/access/v1/${below}`;
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await send(url, `POST ${path}`, {
    token,
    // Node would send a head before a text in the encoding of the text.
    body: Buffer.from(payload),
    headers: { 'content-type': 'application/json', ...headers },
  });
  const { status, text } = reply;
  expectDeclared({ method: 'POST', path, status, text, payload, headers: reply.headers });
  const isJson = String(reply.headers['content-type']).includes('json');
  return { ...reply, body: isJson ? JSON.parse(text) : undefined };
}
