/** Logins on one node, with a type of auth method that trusts everybody. */
import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import { methodUseCases } from '../../src/service/acl/auth-methods.js';
import { ruleUseCases } from '../../src/service/acl/binding-rules.js';
import type { Write } from '../../src/service/common/writing.js';
import { type LoginParts, login } from '../../src/service/login/login.js';
import { LoginRefusals } from '../../src/service/login/refusals.js';
import type { AuthMethodType } from '../../src/service/login/types.js';
import { MANAGER, Solo } from './solo.js';

/** Trusts any name: the bearer token is the value of `value.name`. */
export const trusting: AuthMethodType = {
  name: 'trusting',
  checkConfig: () => undefined,
  checkIssuer: async () => undefined,
  validate: async (_config, bearer) =>
    bearer === ''
      ? { ok: false, code: 'signature', reason: 'nobody' }
      : {
          ok: true,
          identity: {
            selectable: { value: { name: bearer } },
            variables: new Map([['value.name', bearer]]),
          },
          subject: bearer,
          who: bearer,
        },
  vouched: () => undefined,
  examine: () => Promise.reject(new Error('not explained here')),
  shapeOf: () => ({
    selectable: {
      kind: 'struct',
      fields: { value: { kind: 'map', key: 'string', of: { kind: 'string' } } },
    },
    mapped: { value: ['name'] },
    variables: ['value.name'],
  }),
};

/** A node with them. */
export class LoginSetup {
  readonly solo = new Solo();
  readonly types = new Map([['trusting', trusting]]);
  readonly reasons: string[] = [];
  readonly warnings: object[] = [];
  readonly parts: LoginParts = {
    ...this.solo,
    methodTypes: this.types,
    datacenter: 'dc1',
    nowMs: () => this.solo.nowMs,
    logger: { warn: (context, message) => void this.warnings.push({ ...context, message }) },
    refusals: new LoginRefusals(
      { warn: (context) => void this.reasons.push(String(context['reason'])) },
      () => this.solo.nowMs,
    ),
  };
  readonly write: Write = { caller: MANAGER, ns: 'default', timeoutMs: 1000 };

  method(more: object = {}) {
    const body = { Name: 'M', Type: 'trusting', ...more };
    return methodUseCases(this.parts).write(this.write, undefined, body);
  }
  rule(BindType: string, BindName: string, more: object = {}) {
    const body = { AuthMethod: 'M', BindType, BindName, ...more };
    return ruleUseCases({ ...this.parts, lint: 'warn' }).write(this.write, undefined, body);
  }
  async login(BearerToken: string, more: object = {}) {
    const asked = { ns: 'default', timeoutMs: 1000 };
    return JSON.parse(await login(this.parts, asked, { AuthMethod: 'm', BearerToken, ...more }));
  }
  async refused(BearerToken: string): Promise<string> {
    const error = await this.login(BearerToken).catch((why: unknown) => why);
    expect(error).to.be.instanceOf(ApiError).with.property('status', 403);
    return (error as ApiError).message;
  }
}
