import { expect } from 'chai';
import type { Finding } from '../../src/api/migration-report.js';
import type { Converted } from '../../src/migrate/source/types.js';
import { converted, NOW, stateOf } from './reading.js';
import type { Json } from './stand-in.js';

const ACCESSOR = '3c1b0a5e-8d5c-4f7e-9a34-52f1f5f6b001';
const SECRET = '3c1b0a5e-8d5c-4f7e-9a34-52f1f5f6b002';
const POLICY = '3c1b0a5e-8d5c-4f7e-9a34-52f1f5f6b003';

const token = (more: Json = {}): Json => ({ AccessorID: ACCESSOR, SecretID: SECRET, ...more });
const of = (one: Json, options: Parameters<typeof converted>[1] = {}): Converted =>
  converted(stateOf({ Tokens: [one], Policies: [{ ID: POLICY, Name: 'p', Rules: '' }] }), options);
const only = ({ findings }: Converted): Finding => {
  expect(findings).to.have.length(1);
  return findings[0]!;
};
const inMs = (ms: number): string => new Date(NOW.getTime() + ms).toISOString();

describe('the conversion of tokens', () => {
  it('keeps IDs, secrets, times, links and identities', () => {
    const { tokens, findings } = of(
      token({
        Description: 'ci',
        Policies: [{ ID: POLICY, Name: 'p' }],
        ServiceIdentities: [{ ServiceName: 'web' }],
        TemplatedPolicies: [{ TemplateID: 'x', TemplateName: 'builtin/dns' }],
        Local: true,
        CreateTime: '2026-01-05T08:00:00.123456Z',
        ExpirationTime: '2099-01-01T00:00:00Z',
        Hash: 'h',
        CreateIndex: 4,
        ModifyIndex: 5,
      }),
    );
    expect(findings).to.deep.equal([]);
    expect(tokens).to.deep.equal([
      {
        AccessorID: ACCESSOR,
        SecretID: SECRET,
        Namespace: 'default',
        Description: 'ci',
        Policies: [{ ID: POLICY }],
        ServiceIdentities: [{ ServiceName: 'web' }],
        TemplatedPolicies: [{ TemplateName: 'builtin/dns' }],
        Local: true,
        CreateTime: '2026-01-05T08:00:00.123456Z',
        ExpirationTime: '2099-01-01T00:00:00Z',
      },
    ]);
  });

  it('takes the anonymous token alone without secrets, as an object of the set', () => {
    const anonymous = token({
      AccessorID: '00000000-0000-0000-0000-000000000002',
      SecretID: 'anonymous',
      Policies: [{ ID: POLICY, Name: 'p' }],
    });
    const result = converted(
      stateOf({
        Tokens: [anonymous, token()],
        Policies: [{ ID: POLICY, Name: 'p', Rules: '' }],
      }),
      { withSecrets: false },
    );
    expect(result.tokens).to.deep.equal([]);
    expect(result.parts.at(-1)).to.deep.equal({
      step: 'token',
      items: [
        {
          Type: 'token',
          Namespace: 'default',
          Object: {
            AccessorID: '00000000-0000-0000-0000-000000000002',
            Policies: [{ ID: POLICY }],
          },
        },
      ],
    });
  });

  it('legacy_token: shows the policy that does the same, and no secret', () => {
    const Rules = 'key "app/" { policy = "read" }\nservice "" { policy = "write" }';
    const secret = 'aaaaaaaa-0000-4000-8000-000000000001';
    const result = of({ ID: secret, SecretID: secret, Name: 'old ci', Type: 'client', Rules });
    expect(result.tokens).to.deep.equal([]);
    expect(only(result)).to.deep.include({
      Ref: 'token/legacy-1',
      Code: 'legacy_token',
      LeftOut: true,
      Original: Rules,
      Mended: mended('key_prefix "app/"', 'read') + mended('service_prefix ""', 'write'),
    });
    expect(JSON.stringify(result.findings)).to.not.contain(secret);
    expect(JSON.stringify(result.findings)).to.contain('old ci');
    expect(only(of(token({ Type: 'management' }))).Message).to.contain('global-management');
  });

  const mended = (head: string, level: string): string => `${head} {\n  policy = "${level}"\n}\n`;
  const shownFor = (Rules: string) => only(of(token({ Rules })));

  it('legacy_token: keeps the names of rules, in each form that the source reads', () => {
    const service = mended('service_prefix "payment-service"', 'write');
    expect(shownFor('service "payment-service" { policy = "write" }').Mended).to.equal(service);
    const key = mended('key_prefix "key"', 'read');
    expect(shownFor('{ "key": { "key": { "policy": "read" } } }').Mended).to.equal(key);
    expect(shownFor('"key" \t"key" { policy = "read" } # key "b"').Mended).to.equal(key);
  });

  it('legacy_token: shows nothing that the old form did not know', () => {
    const unknown = 'acl = "write"\nmesh = "write"\nkey_prefix "a" { policy = "write" }\n';
    const { Mended } = shownFor(`${unknown}operator = "read"\nnode "a" { policy = "read" }`);
    expect(Mended).to.equal(`operator = "read"\n${mended('node_prefix "a"', 'read')}`);
  });

  it('legacy_token: shows no policy for rules that cannot be read', () => {
    for (const Rules of [
      'key "a" { policy = "all" }',
      'key "a" {',
      'key "a" { policy = "write" sentinel { code = "x" } }',
    ]) {
      const finding = shownFor(Rules);
      expect(finding).to.deep.include({ Code: 'legacy_token', Original: Rules, LeftOut: true });
      expect(finding).to.not.have.key('Mended');
      expect(finding.Message + finding.Do).to.not.match(/below|shown/);
    }
  });

  it('expired: leaves out tokens that are over, or end within 10 s', () => {
    expect(only(of(token({ ExpirationTime: inMs(-1) }))).Code).to.equal('expired');
    expect(only(of(token({ ExpirationTime: inMs(10_000) }))).Code).to.equal('expired');
    expect(of(token({ ExpirationTime: inMs(10_001) })).tokens).to.have.length(1);
  });

  it('no_secret: leaves out tokens whose secret is not shown, unless a new one is made', () => {
    for (const SecretID of ['<hidden>', '', undefined]) {
      const result = of(token({ SecretID }));
      expect(only(result)).to.deep.include({ Code: 'no_secret', LeftOut: true });
      expect(result.tokens).to.deep.equal([]);
    }
    const made = of(token({ SecretID: '<hidden>' }), { newSecret: () => SECRET });
    expect(made.tokens[0]?.SecretID).to.equal(SECRET);
    expect(made.findings).to.deep.equal([]);
  });

  it('invalid: leaves out a secret that cannot be sent, without showing it', () => {
    const finding = only(of(token({ SecretID: 'not printable \u0001' })));
    expect(finding).to.deep.include({ Code: 'invalid', Pointer: '/SecretID', LeftOut: true });
    expect(JSON.stringify(finding)).to.not.contain('not printable');
    expect(of(token({ SecretID: 'a-secret-that-is-no-uuid' })).tokens).to.have.length(1);
  });

  it('moves the tokens of logins, unless they are not asked for', () => {
    const login = token({ AuthMethod: 'jwt1', Identity: { Subject: 'prod/web' } });
    expect(of(login).tokens[0]).to.deep.include({
      AuthMethod: 'jwt1',
      Identity: { Subject: 'prod/web' },
    });
    expect(of(login, { loginTokens: false }).tokens).to.deep.equal([]);
  });

  it('writes a token without its link to a policy that is left out, and says so', () => {
    const state = stateOf({
      Tokens: [token({ Policies: [{ ID: POLICY, Name: 'p' }] })],
      Policies: [{ ID: POLICY, Name: 'p', Rules: 'servce "a" {}' }],
    });
    const { tokens, findings } = converted(state);
    expect(tokens[0]?.['Policies']).to.deep.equal([]);
    expect(findings[1]).to.deep.include({
      Ref: `token/${ACCESSOR}`,
      Code: 'invalid',
      Lost: 'the rights that policy/default/p gives',
      LeftOut: false,
    });
  });
});
