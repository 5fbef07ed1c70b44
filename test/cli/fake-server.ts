/** Servers that answer what a test says, and remember what they were asked. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that was received. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Servers on loopback. */
export class FakeServers {
  readonly #servers: Server[] = [];
  seen: Seen[] = [];

  /** Starts a server with these answers, one after the other; the last one again and again. */
  async serve(...answers: readonly RequestListener[]): Promise<string> {
    let at = 0;
    const server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      let body = '';
      for await (const chunk of request) body += chunk;
      this.seen.push({ method, url, headers, body });
      const answer = answers[Math.min(at, answers.length - 1)]!;
      at += 1;
      answer(request, response);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Forgets the requests. */
  forget(): void {
    this.seen = [];
  }

  /** Stops the servers. */
  close(): void {
    for (const server of this.#servers) server.close().closeAllConnections();
  }
}

/** The header of a list without what the caller may not read. */
export const FILTERED = { 'X-Consul-Results-Filtered-By-ACLs': 'true' };

/** Answers with JSON, and an index. */
export const json =
  (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    const own = { 'Content-Type': 'application/json', 'X-Consul-Index': '7' };
    response.writeHead(200, { ...own, ...headers });
    response.end(JSON.stringify(body));
  };

/** Answers with text. */
export const text =
  (status: number, body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'text/plain' });
    response.end(body);
  };

/** Answers with problem details. */
export const problem =
  (status: number, body: object, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
    response.end(JSON.stringify({ status, ...body }));
  };
