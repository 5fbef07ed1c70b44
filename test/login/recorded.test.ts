/**
 * Plays the recorded logins without a server in between: what is accepted, what is refused, and
 * what is logged.
 */

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import {
  type BindingRule,
  type BindOutcome,
  bind,
  checkBindingRule,
} from '../../src/acl/binding.js';
import { atOnce } from '../../src/acl/steps.js';
import { authMethodTypes } from '../../src/service/login/index.js';
import type { LoginFault } from '../../src/service/login/types.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';

interface Step {
  call: string;
  body?: Record<string, unknown>;
  expect?: { status?: number | object; text?: { $re?: string }; body?: Record<string, unknown> };
  save?: Record<string, string>;
}
interface Case {
  name: string;
  steps: Step[];
}
const cases: Case[] = JSON.parse(readFileSync('test/conformance/cases/login.json', 'utf8'));

/**
 * The selectors of rules that the recorded server stored and that are refused here: no mapping
 * produces what they name.
 */
const OVERRULED = /\b(value|list)\.(missing|NAME)\b/;

/** The parts of a cluster that a login needs. */
class Small {
  readonly types = authMethodTypes(LOGIN_DEFAULTS);
  readonly methods = new Map<string, { Name: string; Type: string; Config?: unknown }>();
  readonly rules = new Map<string, BindingRule & { AuthMethod: string }>();
  readonly links = new Map<string, { ID: string; Name: string }>();
  readonly log: string[] = [];
  #last = 0;

  /** Plays one step; returns the id of the object it created. */
  async play(step: Step): Promise<string | undefined> {
    const body = step.body ?? {};
    const [method, path = ''] = step.call.split(' ');
    const [kind = '', id = ''] = path.replace('/v1/acl/', '').split('/');
    const made = `id-${++this.#last}`;
    if (method === 'DELETE' && kind === 'binding-rule') this.rules.delete(id);
    if (method === 'DELETE' && kind === 'role') {
      for (const [name, link] of this.links) if (link.ID === id) this.links.delete(name);
    }
    if (method === 'POST' && kind === 'login') await this.#login(step);
    if (method !== 'PUT') return undefined;
    if (kind === 'auth-method') await this.#putMethod(step);
    if (kind === 'binding-rule') this.#putRule(made, step);
    if (kind === 'role' || kind === 'policy') {
      this.links.set(`${kind} ${body['Name']}`, { ID: made, Name: String(body['Name']) });
    }
    return made;
  }

  async #putMethod({ body = {}, expect: expected }: Step): Promise<void> {
    const refusal = this.types.get(String(body['Type']))?.checkConfig(body['Config'], 'default');
    expect(refusal?.message ?? 200).to.equal(expected?.status);
    this.methods.set(String(body['Name']), body as { Name: string; Type: string });
  }

  #putRule(id: string, { body = {}, expect: expected }: Step): void {
    const method = this.methods.get(String(body['AuthMethod']));
    const type = this.types.get(method?.Type ?? '');
    if (method === undefined || type === undefined) throw new Error('no such method');
    const vars = body['BindVars'] as { Name?: string } | undefined;
    const BindVars = vars?.Name === undefined ? vars : { name: vars.Name };
    const rule = { ...body, BindVars } as unknown as BindingRule & { AuthMethod: string };
    const refusal = checkBindingRule(rule, type.shapeOf(method.Config));
    if (OVERRULED.test(rule.Selector ?? '')) {
      expect(refusal?.message).to.match(/produced by no claim mapping/);
    } else {
      expect(refusal === undefined, refusal?.message).to.equal((expected?.status ?? 200) === 200);
      if (refusal !== undefined) return;
    }
    this.rules.set(id, rule);
  }

  async #login({ body = {}, expect: expected }: Step): Promise<void> {
    const method = this.methods.get(String(body['AuthMethod']));
    if (method === undefined) return;
    const outcome = await this.#judge(method, String(body['BearerToken'] ?? ''));
    if (outcome.ok) {
      expect(expected?.status).to.equal(200);
      this.#compare(outcome.bound as Record<string, unknown[]>, expected?.body ?? {});
      return;
    }
    this.log.push(outcome.reason);
    // It matched there but cannot be stored here; if it could, it would match nothing.
    if ([...this.rules.values()].some(({ Selector }) => OVERRULED.test(Selector ?? ''))) return;
    expect(expected?.status, `refused: ${outcome.reason}`).not.to.equal(200);
    const wanted = expected?.text?.$re ?? '';
    if (wanted !== 'Permission denied') expect(outcome.reason).to.match(new RegExp(wanted));
  }

  async #judge(
    method: { Name: string; Type: string; Config?: unknown },
    bearerToken: string,
  ): Promise<BindOutcome | ({ readonly ok: false } & LoginFault)> {
    const type = this.types.get(method.Type);
    const at = { namespace: 'default', nowMs: 1_790_000_000_000 };
    const verdict = await type?.validate(method.Config, bearerToken, at);
    if (type === undefined || verdict === undefined) throw new Error('no such type');
    if (!verdict.ok) return verdict;
    const binding = bind({
      identity: verdict.identity,
      shape: type.shapeOf(method.Config),
      rules: [...this.rules.values()].filter(({ AuthMethod }) => AuthMethod === method.Name),
      datacenter: 'dc1',
      roleByName: (name) => this.links.get(`role ${name}`),
      policyByName: (name) => this.links.get(`policy ${name}`),
    });
    return atOnce(binding);
  }

  /** The token has the recorded names, and no others where the record is exact. */
  #compare(bound: Record<string, unknown[]>, recorded: Record<string, unknown>): void {
    for (const list of [
      'ServiceIdentities',
      'NodeIdentities',
      'Roles',
      'Policies',
      'TemplatedPolicies',
    ]) {
      const wanted = recorded[list] as
        | undefined
        | object[]
        | { $absent?: true; $contains?: object[]; $lacks?: object[]; $length?: number };
      if (wanted === undefined) continue;
      const actual = bound[list];
      if (!Array.isArray(wanted)) {
        if (wanted.$absent) expect(actual).to.equal(undefined);
        if (wanted.$length !== undefined) expect(actual).to.have.length(wanted.$length);
        for (const one of wanted.$contains ?? [])
          expect(
            actual?.some((a) => includes(a, one)),
            list,
          ).to.equal(true);
        for (const one of wanted.$lacks ?? [])
          expect(actual?.some((a) => includes(a, one)) ?? false, list).to.equal(false);
        continue;
      }
      expect(actual).to.have.length(wanted.length);
      for (const [i, one] of wanted.entries()) {
        expect(includes(actual?.[i], one), JSON.stringify([actual?.[i], one])).to.equal(true);
      }
    }
  }
}

/**
 * Whether every plain member of `part` is in `whole`; the player creates ids, and matchers are
 * ignored.
 */
function includes(whole: unknown, part: { $exact?: object } & object): boolean {
  if (part.$exact !== undefined) return isDeepStrictEqual(whole, part.$exact);
  return Object.entries(part as Record<string, unknown>).every(([key, value]) => {
    const actual = (whole as Record<string, unknown> | undefined)?.[key];
    if (typeof value === 'string') return value.includes('${') || actual === value;
    return (
      typeof value !== 'object' ||
      value === null ||
      Object.keys(value).some((k) => k.startsWith('$')) ||
      includes(actual, value)
    );
  });
}

describe('login: the recorded cases', () => {
  for (const { name, steps } of cases) {
    it(name, async () => {
      const cluster = new Small();
      const saved = new Map<string, string>();
      for (const step of steps) {
        const text = JSON.stringify(step).replace(/\$\{(\w+)\}/g, (all, key) =>
          key === 'run' ? 'run' : (saved.get(key) ?? all),
        );
        const made = await cluster.play(JSON.parse(text));
        for (const [key, from] of Object.entries(step.save ?? {})) {
          if (made !== undefined && from === 'ID') saved.set(key, made);
        }
      }
      for (const line of cluster.log) expect(line).not.to.match(/eyJ/);
    });
  }
});
