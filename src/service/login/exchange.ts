/**
 * One bounded HTTP exchange with a server that an auth method names: in time, in size, in
 * redirects.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { FetchLimits } from './types.js';

export interface Exchange {
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Certificates in PEM form to trust instead of the usual ones. */
  readonly ca?: string | undefined;
}
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** An exchange that did not work out. The message is short and holds no header, body or query. */
export class FetchFault extends Error {}

const REDIRECTS_MAX = 3;

/** Sends a request and reads the whole reply. Rejects with FetchFault. */
export async function exchange(what: Exchange, limits: FetchLimits): Promise<Reply> {
  const signal = AbortSignal.timeout(limits.timeoutMs);
  let { url } = what;
  for (let hops = 0; ; hops++) {
    const response = await send({ ...what, url }, signal, limits.timeoutMs);
    const status = response.statusCode ?? 0;
    const target = redirectTarget(what, url, response);
    if (target === undefined) return { status, text: await read(response, signal, limits) };
    response.destroy();
    if (hops === REDIRECTS_MAX)
      throw new FetchFault(`${url.host} redirects more than ${REDIRECTS_MAX} times`);
    url = target;
  }
}

/** Redirects are followed where nothing secret is sent, and never from TLS to plain text. */
function redirectTarget(what: Exchange, from: URL, response: IncomingMessage): URL | undefined {
  const { location } = response.headers;
  const status = response.statusCode ?? 0;
  if (location === undefined || status < 300 || status > 399 || what.method === 'POST')
    return undefined;
  if (what.headers?.['authorization'] !== undefined) return undefined;
  const target = URL.canParse(location, from.href)
    ? httpUrl(new URL(location, from).href)
    : undefined;
  if (target === undefined || (from.protocol === 'https:' && target.protocol !== 'https:')) {
    throw new FetchFault(`${from.host} redirects to where we do not follow`);
  }
  return target;
}

function send(what: Exchange, signal: AbortSignal, timeoutMs: number): Promise<IncomingMessage> {
  const { url, method = 'GET', headers = {}, body, ca } = what;
  const options: RequestOptions & { ca?: string } = {
    method,
    signal,
    agent: false,
    headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
    ...(ca === undefined ? {} : { ca }),
  };
  const request =
    url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
  return new Promise((resolve, fail) => {
    request.once('response', resolve);
    request.on('error', (error) =>
      fail(new FetchFault(`${url.host}: ${reasonOf(error, signal, timeoutMs)}`)),
    );
    request.end(body);
  });
}

async function read(
  response: IncomingMessage,
  signal: AbortSignal,
  limits: FetchLimits,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limits.bodyBytesMax) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new FetchFault(reasonOf(error, signal, limits.timeoutMs));
  }
  if (size > limits.bodyBytesMax)
    throw new FetchFault(`the reply is longer than ${limits.bodyBytesMax} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (signal.aborted) return `no reply within ${timeoutMs} ms`;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

/** A URL of http or https without a user or password in it, or undefined. */
export function httpUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.username === '' && url.password === '' ? url : undefined;
}

/** Parses the reply of a server as a JSON object; throws FetchFault. */
export function jsonObject({ status, text }: Reply, host: string): Record<string, unknown> {
  if (status < 200 || status > 299) throw new FetchFault(`${host} answers with status ${status}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new FetchFault(`${host} does not answer with a JSON object`);
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
