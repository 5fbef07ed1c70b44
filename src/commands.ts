/** What the command line asks of a running node, over its API. */
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A node's API and who asks. */
export interface Target {
  readonly url: string;
  readonly token: string | undefined;
}

/** The node refused; its sentence is the message. */
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

/** Saves a snapshot, whole or not at all. Gives the index it was taken at. */
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

/** Puts a snapshot in the place of the cluster's whole state. */
export async function restoreSnapshot(target: Target, file: string): Promise<void> {
  // opened first: what is wrong with the file is not the node's silence
  const body = Readable.toWeb((await open(file)).createReadStream()) as ReadableStream;
  await call(target, 'PUT', '/v1/snapshot', { body, duplex: 'half' } as RequestInit);
}

/** Makes a join token. `ttl`: how long it lasts, such as `1h`; 15 minutes by default. */
export async function joinToken(
  target: Target,
  ttl?: string,
): Promise<{ token: string; expires: string }> {
  const query = ttl === undefined ? '' : `?ttl=${encodeURIComponent(ttl)}`;
  const answer = await call(target, 'POST', `/v1/operator/raft/join-token${query}`);
  const made = (await answer.json()) as { JoinToken: string; ExpirationTime: string };
  return { token: made.JoinToken, expires: made.ExpirationTime };
}

/** Takes a node out of its cluster; it is then stopped by whoever started it. Gives its name. */
export async function leave(target: Target): Promise<string> {
  const answer = await call(target, 'GET', '/v1/agent/self');
  const { Config } = (await answer.json()) as { Config: { NodeID: string; NodeName: string } };
  const id = encodeURIComponent(Config.NodeID);
  await call(target, 'DELETE', `/v1/operator/raft/peer?id=${id}`);
  return Config.NodeName;
}
