/** Lint of what is written: the header, and the modes of `acl.lint`. */
import { expect } from 'chai';
import type { LintMode } from '../../src/service/acl/objects.js';
import type { Command } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

describe('lint of writes', () => {
  let client: SoloClient;
  let issuer: Signer;
  before(async () => {
    issuer = await signer('ES256');
  });
  const open = async (lint: LintMode): Promise<void> => {
    client = await SoloClient.open([], new Solo(), {}, { lint });
  };
  afterEach(() => client.close());

  const put = (path: string, body: object) => client.ask(`PUT /acl/${path}`, body);
  const noted = async (path: string, body: object) => {
    const { headers, status } = await put(path, body);
    expect(status).to.equal(200);
    expect(headers['x-consul-lint']).to.equal(headers['x-service-lint']);
    return headers['x-service-lint'] ?? null;
  };
  const broad = 'service_prefix "" { policy = "write" }\nservice "a" { policy = "write" }';
  const method = () =>
    put('auth-method', {
      Name: 'm',
      Type: 'jwt',
      Config: { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { team: 'team' } },
    });
  const rule = { AuthMethod: 'm', BindType: 'service', BindName: 'web' };

  it('tells the warnings of a policy under both prefixes, and nothing else changes', async () => {
    await open('warn');
    const answer = await put('policy', { Name: 'p', Rules: broad });
    expect(answer.headers['x-consul-lint']).to.equal('broad_write@1:1, redundant@2:1');
    const { ID, Name, Rules } = answer.body;
    expect([Name, Rules]).to.deep.equal(['p', broad]);
    expect(await noted(`policy/${ID}`, { Name, Rules: 'acl = "write"' })).to.equal('acl_write@1:1');
    expect(
      await noted(`policy/${ID}`, { Name, Rules: 'service "a" { policy = "read" }' }),
    ).to.equal(null);
    expect(await noted('role', { Name: 'r' })).to.equal(null);
  });

  it('tells the warnings of a binding rule, which does not cover itself', async () => {
    await open('warn');
    await method();
    expect(await noted('binding-rule', rule)).to.equal('matches_everyone@1:1');
    const Selector = 'value.team == a or value.team != x';
    const answer = await put('binding-rule', { ...rule, Selector });
    expect(answer.headers['x-service-lint']).to.equal('absent_claim_passes@1:1, covered@1:1');
    const { ID } = answer.body;
    const other = { ...rule, BindName: 'db', Selector: 'value.team == a' };
    expect(await noted(`binding-rule/${ID}`, other)).to.equal(null);
    expect(await noted(`binding-rule/${ID}`, other)).to.equal(null);
  });

  it('cuts a long header after a whole warning', async () => {
    await open('warn');
    const lines = Array.from({ length: 100 }, (_, n) => `namespace "n${n}" { acl = "write" }`);
    const note = (await noted('policy', { Name: 'p', Rules: lines.join('\n') }))!;
    expect(note.length).to.be.within(490, 512);
    expect(note).to.match(/^acl_write@1:18(, acl_write@\d+:\d+)+$/);
  });

  it('refuses with faults in the words of old, in every mode', async () => {
    for (const mode of ['off', 'warn', 'strict'] as const) {
      await open(mode);
      const refused = await put('policy', { Name: 'p', Rules: 'acl = "write"\nservce "a" {}' });
      expect(refused.status).to.equal(400);
      expect(refused.text).to.equal(
        'Failed to parse ACL rules: unknown resource "servce"; did you mean "service"? at 2:1',
      );
      if (mode !== 'strict') await client.close();
    }
  });

  it('off: tells and refuses nothing', async () => {
    await open('off');
    await method();
    expect(await noted('policy', { Name: 'p', Rules: broad })).to.equal(null);
    expect(await noted('binding-rule', rule)).to.equal(null);
  });

  it('strict: refuses the first warning, and writes nothing', async () => {
    await open('strict');
    await method();
    const index = client.solo.machine.appliedIndex();
    const refused = async (path: string, body: object): Promise<string> => {
      const answer = await put(path, body);
      expect(answer.status).to.equal(400);
      return answer.text;
    };
    expect(await refused('policy', { Name: 'p', Rules: broad })).to.match(
      /^service_prefix "" gives write on every service \(name the services, /,
    );
    expect(await refused('binding-rule', { ...rule, Selector: 'value.team != x' })).to.match(
      /^someone without value\.team is let in.*"team" in value and \(value\.team != x\)\)$/,
    );
    expect(client.solo.machine.appliedIndex()).to.equal(index);
    // What is only an information is written.
    expect(await noted('policy', { Name: 'p', Rules: 'key "a" { policy = "read" }' })).to.equal(
      null,
    );
    expect(await noted('binding-rule', { ...rule, Selector: 'value.team == x' })).to.equal(null);
  });

  it('of a set is shown by its plan, and refuses it only if it is strict', async () => {
    const set = { Objects: [{ Type: 'policy', Object: { Name: 'p', Rules: broad } }] };
    for (const mode of ['strict', 'warn'] as const) {
      await open(mode);
      client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
      const { Valid, Changes } = await client.must('POST /plan', set);
      expect([Valid, Changes[0].Warnings[0]?.Code]).to.deep.equal([mode === 'warn', 'broad_write']);
      const applied = await client.ask('POST /apply', set);
      expect(applied.status).to.equal(mode === 'warn' ? 200 : 400);
      if (mode === 'strict') await client.close();
    }
  });

  it('comes after the right: who may not write learns nothing', async () => {
    await open('strict');
    const answer = await client.ask('PUT /acl/policy', { Name: 'p', Rules: broad }, '');
    expect(answer.status).to.equal(403);
    expect(answer.headers).not.to.have.property('x-service-lint');
  });
});
