/** A node that decides for other programs, and requests to it. */
import type { HttpOptions } from '../../../src/http/options.js';
import { authzenRoutes } from '../../../src/http/routes/authzen.js';
import type { AclParts } from '../../../src/http/routes/common.js';
import { aclConfigurationRoutes } from '../../../src/http/routes/operator.js';
import type { Command } from '../../../src/state/types.js';
import { authzen, type Body, type Reply, type Sent } from '../../support/authzen.js';
import { SoloClient } from '../client.js';
import { partsOf } from '../serve.js';
import { Solo } from '../solo.js';

export class Decider {
  readonly client: SoloClient;

  constructor(client: SoloClient) {
    this.client = client;
  }

  static async open({
    solo = new Solo(),
    http = {},
    ...given
  }: Partial<AclParts> & {
    readonly solo?: Solo;
    readonly http?: Partial<HttpOptions>;
  } = {}): Promise<Decider> {
    solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
    const parts = { ...partsOf(solo), ...given };
    const routes = [...authzenRoutes(parts), ...aclConfigurationRoutes(solo.service)];
    return new Decider(await SoloClient.open(routes, solo, http, given));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Sends a request below /access/v1, with the token that manages all unless it has another. */
  ask(path: string, body: Body, sent: Sent = {}): Promise<Reply> {
    const { url, token } = this.client;
    return authzen(url, path, body, { token, ...sent });
  }

  /** The answer to one question. */
  async decide(
    [subjectType, subjectId]: readonly [string, string],
    action: string,
    [type, id, properties]: readonly [string, string, (object | undefined)?],
    { subject = {}, token }: { readonly subject?: object; readonly token?: string } = {},
  ): Promise<Reply['body']> {
    const body = {
      subject: { type: subjectType, id: subjectId, properties: subject },
      action: { name: action },
      resource: { type, id, ...(properties && { properties }) },
    };
    const reply = await this.ask('evaluation', body, token === undefined ? {} : { token });
    return reply.status === 200 ? reply.body : reply;
  }

  /** Whether a question is allowed, and why. */
  async codeOf(...asked: Parameters<Decider['decide']>): Promise<string> {
    const { decision, context, status } = await this.decide(...asked);
    return context === undefined ? `status ${status}` : `${decision} ${context.code}`;
  }

  /** Creates a token with rules. Returns its ids. */
  async token(
    rules: string,
    more: object = {},
  ): Promise<{ readonly AccessorID: string; readonly SecretID: string }> {
    const Name = `policy-${this.#policies++}`;
    await this.client.must('PUT /acl/policy', { Name, Rules: rules });
    return this.client.must('PUT /acl/token', { Policies: [{ Name }], ...more });
  }
  #policies = 0;
}
