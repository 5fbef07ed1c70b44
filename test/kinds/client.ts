/** A client of the API for tests. */
import { randomUUID } from 'node:crypto';
import { expectDeclared } from '../openapi/declared.js';

export interface Reply {
  readonly status: number;
  /** The body without the newline at its end. */
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly json: any;
  readonly index: number;
  /** The header Results-Filtered-By-ACLs. */
  readonly filtered: string | null;
}

export class Client {
  readonly #url: string;
  readonly #secret: string;

  constructor(url: string, secret: string) {
    this.#url = url;
    this.#secret = secret;
  }

  /** `secret` is the token to send, `''` for none; by default the client's own. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    secret = this.#secret,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { ...(secret === '' ? {} : { 'x-service-token': secret }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expectDeclared({
      method,
      path,
      status: answer.status,
      text,
      payload: body === undefined ? undefined : JSON.stringify(body),
      headers: Object.fromEntries(answer.headers),
    });
    const type = answer.headers.get('content-type') ?? '';
    return {
      status: answer.status,
      text: text.replace(/\n$/, ''),
      json: type.startsWith('application/json') ? JSON.parse(text) : undefined,
      index: Number(answer.headers.get('x-service-index')),
      filtered: answer.headers.get('x-service-results-filtered-by-acls'),
    };
  }

  /** A call that must succeed. */
  async must(method: string, path: string, body?: unknown): Promise<Reply> {
    const reply = await this.call(method, path, body);
    if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  }

  /** Creates a token with the given rules; returns its secret. */
  async token(rules: string): Promise<string> {
    const name = `p-${randomUUID()}`;
    await this.must('PUT', '/v1/acl/policy', { Name: name, Rules: rules });
    const { json } = await this.must('PUT', '/v1/acl/token', { Policies: [{ Name: name }] });
    return json.SecretID;
  }
}
