/** Lint over HTTP: bodies, rights, namespaces, and what it leaves alone. */
import { expect } from 'chai';
import { type Signer, signer } from '../login/signers.js';
import { type Ask, type Reply, send } from '../support/client.js';
import { SoloClient } from './client.js';

const LINT = 'POST /acl/policy/lint';

describe('lint over HTTP', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const sent = (call: string, ask: Ask) => send(client.url, call, { token: client.token, ...ask });

  describe('of a policy', () => {
    it('lints rules, and a stored policy by its ID', async () => {
      const Rules = 'acl = "write"';
      const problem = {
        Severity: 'warning',
        Code: 'acl_write',
        Message: 'acl = "write": whoever has it can give itself everything',
        Line: 1,
        Column: 1,
        Hint: 'give acl = "read" to readers',
      };
      const expected = { Valid: true, Problems: [problem] };
      expect(await client.must(LINT, { Rules })).to.deep.equal(expected);
      const { ID } = await client.must('PUT /acl/policy', { Name: 'p', Rules });
      const answer = await client.ask(LINT, { ID: ID.toUpperCase() });
      expect(answer.body).to.deep.equal(expected);
      expect(answer.index).to.equal(client.solo.machine.appliedIndex());
      const text = await client.ask(LINT, { Rules: 'x = 1' });
      expect(text.body.Valid).to.equal(false);
    });

    it('writes nothing', async () => {
      const before = client.solo.machine.appliedIndex();
      await client.must(LINT, { Rules: 'acl = "write"' });
      expect(client.solo.machine.appliedIndex()).to.equal(before);
    });

    it('judges by the namespace of body, parameter or token', async () => {
      await client.must('PUT /namespace', { Name: 'team' });
      const valid = async (call: string, more: object, token?: string) =>
        (await client.must(call, { Rules: 'operator = "read"', ...more }, token)).Valid;
      expect(await valid(LINT, {})).to.equal(true);
      expect(await valid(LINT, { Namespace: 'team' })).to.equal(false);
      expect(await valid(`${LINT}?ns=team`, {})).to.equal(false);
      expect(await valid(`${LINT}?ns=team`, { Namespace: 'default' })).to.equal(true);
      expect(await valid(LINT, {}, await client.secretWith('acl = "read"', 'team'))).to.equal(
        false,
      );
      const { ID } = await client.must('PUT /acl/policy?ns=team', { Name: 'p', Rules: '' });
      expect((await client.ask(LINT, { ID })).status).to.equal(404);
      expect((await client.ask(`${LINT}?ns=team`, { ID })).status).to.equal(200);
    });

    it('needs acl:read where it looks, before the body is judged', async () => {
      await client.must('PUT /namespace', { Name: 'team' });
      const body = { Rules: '' };
      const status = async (token: string, call = LINT, sent: object = body) =>
        (await client.ask(call, sent, token)).status;
      const reader = await client.secretWith('acl = "read"');
      const other = await client.secretWith('service_prefix "" { policy = "write" }');
      expect(await status(reader)).to.equal(200);
      expect(await status(other)).to.equal(403);
      expect(await status(other, LINT, { Rulez: '' })).to.equal(403);
      expect(await status('')).to.equal(403);
      expect(await status(reader, `${LINT}?ns=team`)).to.equal(403);
      expect(
        await status(await client.secretWith('acl = "read"', 'team'), `${LINT}?ns=default`),
      ).to.equal(403);
      expect(
        await status(await client.secretWith('namespace "team" { acl = "read" }'), LINT, {
          ...body,
          Namespace: 'team',
        }),
      ).to.equal(200);
    });

    for (const [body, detail] of [
      ['{}', /exactly one of Rules and ID/],
      ['{"Rules":"","ID":"x"}', /exactly one of Rules and ID/],
      ['{"ID":"x"}', /policy ID: UUID must be 36 characters/],
      ['{"Rules":1}', /expected a string/],
      ['{"rules":""}', /unknown field "rules"; did you mean "Rules"/],
      ['{"Rules":"","Namespace":"*"}', /Invalid field "Namespace"/],
      ['[]', /./],
      ['{', /./],
    ] as const) {
      it(`refuses the body ${body}`, async () => {
        const answer = await sent('POST /v1/acl/policy/lint', { body });
        expect(answer.status).to.equal(400);
        expect(answer.headers['content-type']).to.equal('application/problem+json');
        expect(JSON.parse(answer.text).detail).to.match(detail);
      });
    }

    it('refuses unknown parameters, and 404s a policy that does not exist', async () => {
      const call = `${LINT}?severty=info`;
      const slip = await client.ask(call, { Rules: '' });
      expect([slip.status, slip.body.code]).to.deep.equal([400, 'invalid']);
      const ID = '11111111-2222-4333-8444-555555555555';
      const missing = await client.ask(LINT, { ID });
      expect([missing.status, missing.body.code]).to.deep.equal([404, 'not_found']);
      expect((await client.ask(`${LINT}?stale`, { Rules: '' })).status).to.equal(200);
      expect((await client.ask(`${LINT}?consistent`, { Rules: '' })).status).to.equal(200);
    });

    it('leaves the other methods of its path to the policy of that ID', async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
        const body = method === 'PUT' ? { body: '{"Name":"p"}' } : {};
        const [lint, other] = await Promise.all(
          ['lint', 'lind'].map((id) => sent(`${method} /v1/acl/policy/${id}`, body)),
        );
        const told = (answer: Reply) => [
          answer.status,
          answer.headers['allow'],
          answer.text.replaceAll('lind', 'lint'),
        ];
        expect(told(lint!), method).to.deep.equal(told(other!));
      }
      const [lint, other] = await Promise.all(
        ['lint', 'lind'].map((id) => sent(`OPTIONS /v1/acl/policy/${id}`, {})),
      );
      expect(lint!.headers['allow']).to.equal(`${other!.headers['allow']},POST`);
    });
  });

  describe('of a binding rule', () => {
    const RULE = 'POST /acl/binding-rule/lint';
    let issuer: Signer;
    before(async () => {
      issuer = await signer('ES256');
    });
    beforeEach(async () => {
      const ClaimMappings = { team: 'team' };
      const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings };
      await client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    });
    const rule = { AuthMethod: 'm', Selector: 'value.team == a', BindType: 'role', BindName: 'r' };
    const codes = async (body: object, call = RULE): Promise<string[]> =>
      (await client.must(call, body)).Problems.map(
        ({ Code, Field }: { Code: string; Field: string }) => `${Code}@${Field}`,
      );

    it('judges it by its auth method, the roles there are, and the other rules', async () => {
      expect(await codes(rule)).to.deep.equal(['missing_target@BindName']);
      await client.must('PUT /acl/role', { Name: 'R' });
      expect(await client.must(RULE, rule)).to.deep.equal({ Valid: true, Problems: [] });
      const { ID } = await client.must('PUT /acl/binding-rule', rule);
      expect(await codes(rule)).to.deep.equal(['covered@Selector']);
      // The stored rule does not cover itself, as it is or with other content.
      expect(await codes({ ID })).to.deep.equal([]);
      expect(await codes({ ...rule, ID })).to.deep.equal([]);
      expect(await codes({ ID, BindType: 'role', BindName: 'r', Selector: '' })).to.deep.equal([
        'matches_everyone@Selector',
      ]);
      expect(await codes({ ...rule, Selector: 'value.team != a' })).to.deep.equal([
        'absent_claim_passes@Selector',
      ]);
    });

    it('looks for roles where the tokens of the method may be', async () => {
      await client.must('PUT /namespace', { Name: 'team' });
      await client.must('PUT /acl/role?ns=team', { Name: 'r' });
      const method = await client.must('GET /acl/auth-method/m');
      const leading = (BindNamespace: string) =>
        client.must('PUT /acl/auth-method', {
          ...method,
          NamespaceRules: [{ Selector: '', BindNamespace }],
        });
      expect(await codes(rule)).to.deep.equal(['missing_target@BindName']);
      await leading('team');
      expect(await codes(rule)).to.deep.equal([]);
      expect(await codes({ ...rule, BindName: 'x' })).to.deep.equal(['missing_target@BindName']);
      await leading('ns-${value.team}');
      expect(await codes({ ...rule, BindName: 'x' })).to.deep.equal([]);
    });

    it('knows nothing of a namespace that the caller may not read', async () => {
      await client.must('PUT /namespace', { Name: 'hidden' });
      await client.must('PUT /acl/role?ns=hidden', { Name: 'there' });
      await client.must('PUT /acl/auth-method', {
        ...(await client.must('GET /acl/auth-method/m')),
        NamespaceRules: [{ Selector: '', BindNamespace: 'hidden' }],
      });
      const reader = await client.secretWith('acl = "read"');
      const writer = await client.secretWith('acl = "write"');
      const answers = async (BindName: string) => {
        const linted = await client.must(RULE, { ...rule, BindName }, reader);
        const written = await client.must('PUT /acl/binding-rule', { ...rule, BindName }, writer);
        const stored = await client.must('GET /acl/lint', undefined, reader);
        const about = stored.Findings.filter(({ Ref }: { Ref: string }) =>
          Ref.includes(written.ID),
        );
        await client.must(`DELETE /acl/binding-rule/${written.ID}`);
        return JSON.stringify([linted, about]).replaceAll(written.ID, '').replaceAll(BindName, '');
      };
      expect(await answers('there')).to.equal(await answers('not-there'));
      expect(await codes({ ...rule, BindName: 'not-there' })).to.deep.equal([
        'missing_target@BindName',
      ]);
    });

    it('has the errors of a write about the auth method', async () => {
      const { ID } = await client.must('PUT /acl/binding-rule', rule);
      await client.must('PUT /acl/auth-method', {
        ...(await client.must('GET /acl/auth-method/m')),
        Name: 'other',
      });
      for (const [body, call] of [
        [{ ...rule, AuthMethod: '' }, 'PUT /acl/binding-rule'],
        [{ ...rule, AuthMethod: 'none' }, 'PUT /acl/binding-rule'],
        [{ ...rule, AuthMethod: 'other', ID }, `PUT /acl/binding-rule/${ID}`],
      ] as const) {
        const written = await client.ask(call, body);
        const { Valid, Problems } = await client.must(RULE, body);
        expect([written.status, Valid]).to.deep.equal([400, false]);
        expect(Problems[0]).to.include({ Severity: 'error', Field: 'AuthMethod' });
        expect(written.text.endsWith(Problems[0].Message), written.text).to.equal(true);
      }
    });

    it('needs acl:read; refuses unknown fields, and 404s an unknown rule', async () => {
      const other = await client.secretWith('service_prefix "" { policy = "write" }');
      expect((await client.ask(RULE, rule, other)).status).to.equal(403);
      expect(
        (await client.ask(RULE, rule, await client.secretWith('acl = "read"'))).status,
      ).to.equal(200);
      expect((await client.ask(RULE, { ...rule, Selectr: '' })).status).to.equal(400);
      const ID = '11111111-2222-4333-8444-555555555555';
      expect((await client.ask(RULE, { ID })).status).to.equal(404);
      expect((await client.ask(RULE, { ...rule, ID })).status).to.equal(404);
      expect((await client.ask(RULE, { ID: 'x' })).status).to.equal(400);
    });
  });
});
