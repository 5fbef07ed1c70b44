/** The commands that talk to a running node over its API. */
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The API of a node, and the token to use. */
export interface Target {
  readonly url: string;
  readonly token: string | undefined;
}

/** The node refused the request or did not answer. The message is for the terminal. */
export class CommandError extends Error {}

async function call(
  { url, token }: Target,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = token === undefined ? {} : { 'X-Consul-Token': token };
  let answer: Response;
  try {
    answer = await fetch(new URL(path, url), { method, headers, ...init });
  } catch (error) {
    const { message, code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    const hint = /CERT|SIGNATURE/.test(code ?? '')
      ? ' (NODE_EXTRA_CA_CERTS names the file of its authority)'
      : '';
    throw new CommandError(`${url} does not answer: ${message}${hint}`);
  }
  if (!answer.ok) throw new CommandError(`${answer.status}: ${(await answer.text()).trim()}`);
  return answer;
}

/** Saves a snapshot, completely or not at all. Returns the index at which it was taken. */
export async function saveSnapshot(target: Target, file: string): Promise<string> {
  const answer = await call(target, 'GET', '/v1/snapshot');
  const part = `${file}.part`;
  try {
    await pipeline(
      Readable.fromWeb(answer.body as never),
      createWriteStream(part, { mode: 0o600 }),
    );
    const written = await open(part, 'r');
    await written.sync().finally(() => written.close());
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return answer.headers.get('X-Consul-Index') ?? '';
}

/** Replaces the cluster's whole state by a snapshot. */
export async function restoreSnapshot(target: Target, file: string): Promise<void> {
  // Opened first, so that a problem with the file is not reported as one of the node.
  const body = Readable.toWeb((await open(file)).createReadStream()) as ReadableStream;
  await call(target, 'PUT', '/v1/snapshot', { body, duplex: 'half' } as RequestInit);
}

/** Creates a join token. `ttl` is its lifetime, such as `1h`; 15 minutes by default. */
export async function joinToken(
  target: Target,
  ttl?: string,
): Promise<{ token: string; expires: string }> {
  const query = ttl === undefined ? '' : `?ttl=${encodeURIComponent(ttl)}`;
  const answer = await call(target, 'POST', `/v1/operator/raft/join-token${query}`);
  const made = (await answer.json()) as { JoinToken: string; ExpirationTime: string };
  return { token: made.JoinToken, expires: made.ExpirationTime };
}

/** Removes a node from its cluster and returns its name. Does not stop the process. */
export async function leave(target: Target): Promise<string> {
  const answer = await call(target, 'GET', '/v1/agent/self');
  const { Config } = (await answer.json()) as { Config: { NodeID: string; NodeName: string } };
  const id = encodeURIComponent(Config.NodeID);
  await call(target, 'DELETE', `/v1/operator/raft/peer?id=${id}`);
  return Config.NodeName;
}
