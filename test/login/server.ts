/** A small HTTP or HTTPS server whose responses a test sets by path. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { SERVER_CERTIFICATE, SERVER_KEY } from './certificates.js';

export type Answer =
  | unknown
  | ((request: IncomingMessage, response: ServerResponse, body: string) => unknown);

export class TestServer {
  /**
   * Responses by path: a value is sent as JSON; a function may respond itself or return a value.
   */
  readonly answers = new Map<string, Answer>();
  /** Method and path of every request so far. */
  readonly seen: string[] = [];
  readonly url: string;
  readonly #server: Server;

  constructor(server: Server, scheme: string) {
    this.#server = server;
    this.url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(tls = false): Promise<TestServer> {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      started.#handle(request, response).catch((error) => response.destroy(error));
    };
    const server = tls
      ? createTlsServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, listener)
      : createServer(listener);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const started = new TestServer(server, tls ? 'https' : 'http');
    return started;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    this.seen.push(`${request.method} ${path}`);
    const answer = this.answers.get(path);
    const value = typeof answer === 'function' ? await answer(request, response, body) : answer;
    if (response.headersSent || response.writableEnded) return;
    if (value === undefined && typeof answer === 'function') return;
    response.setHeader('content-type', 'application/json');
    response.statusCode = value === undefined ? 404 : response.statusCode;
    response.end(JSON.stringify(value ?? {}));
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }
}
