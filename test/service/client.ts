/** Talks to a Solo over HTTP, for tests that make several requests in a row. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Listener } from '../../src/http/listener/listener.js';
import type { HttpOptions } from '../../src/http/options.js';
import type { AclParts } from '../../src/http/routes/common.js';
import type { Route } from '../../src/http/routes/types.js';
import { expectDeclared } from '../openapi/declared.js';
import { serve } from './serve.js';
import { MANAGEMENT_SECRET, Solo } from './solo.js';

export interface Reply {
  readonly status: number;
  /** The body without the newline at its end. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly body: any;
  readonly index: number;
  /** The header Results-Filtered-By-ACLs. */
  readonly filtered: string | null;
  /** The header Decision. */
  readonly decision: string | null;
}

export class Client {
  readonly solo: Solo;
  readonly #listener: Listener;

  constructor(solo: Solo, listener: Listener) {
    this.solo = solo;
    this.#listener = listener;
  }

  static async open(
    more: readonly Route[] = [],
    solo = new Solo(),
    given: Partial<HttpOptions> = {},
    parts: Partial<AclParts> = {},
  ): Promise<Client> {
    return new Client(solo, await serve(solo, more, given, parts));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.port}`;
  }

  close(): Promise<void> {
    return this.#listener.close(0);
  }

  /** `call` is a method and a path below /v1. An empty token means that none is sent. */
  async ask(
    call: string,
    body?: object,
    token = MANAGEMENT_SECRET,
    signal?: AbortSignal,
  ): Promise<Reply> {
    const [method, path] = call.split(' ') as [string, string];
    const answer = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: token === '' ? {} : { 'X-Service-Token': token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = (await answer.text()).replace(/\n$/, '');
    const { headers, status } = answer;
    expectDeclared({
      method,
      path: `/v1${path}`,
      status,
      text,
      payload: body === undefined ? undefined : JSON.stringify(body),
      headers: Object.fromEntries(headers),
    });
    const isJson = headers.get('content-type')?.includes('json') === true;
    return {
      status,
      text,
      body: isJson ? JSON.parse(text) : undefined,
      index: Number(headers.get('X-Service-Index')),
      filtered: headers.get('X-Service-Results-Filtered-By-ACLs'),
      decision: headers.get('X-Service-Decision'),
    };
  }

  /** The body of a response that must be a 200. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async must(call: string, body?: object, token?: string): Promise<any> {
    const reply = await this.ask(call, body, token);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  }

  /** The secret of a new token with these rules. */
  async secretWith(Rules: string, ns = 'default'): Promise<string> {
    const Name = `p-${this.solo.machine.appliedIndex()}`;
    await this.must(`PUT /acl/policy?ns=${ns}`, { Name, Rules });
    return (await this.must(`PUT /acl/token?ns=${ns}`, { Policies: [{ Name }] })).SecretID;
  }

  /**
   * Holds a read at its present index and makes a change. Returns the response before the change,
   * and the one that it woke; `woken` is undefined if the read is still waiting.
   */
  async across(
    path: string,
    change: () => Promise<unknown>,
    token?: string,
  ): Promise<{ readonly before: Reply; readonly woken: Reply | undefined }> {
    const before = await this.ask(`GET ${path}`, undefined, token);
    const blocking = `${path}${path.includes('?') ? '&' : '?'}index=${before.index}&wait=60s`;
    const { watches } = this.solo;
    const gone = new AbortController();
    let woken: Reply | undefined;
    const held = this.ask(`GET ${blocking}`, undefined, token, gone.signal).then(
      (reply) => {
        woken = reply;
      },
      () => {},
    );
    const settled = async (): Promise<void> => {
      while (watches.size === 0 && woken === undefined) await nextTurn();
    };
    await settled();
    await change();
    await settled();
    const seen = woken;
    gone.abort();
    await held;
    return { before, woken: seen };
  }
}
