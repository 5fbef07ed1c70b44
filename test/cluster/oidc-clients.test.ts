import { expect } from 'chai';
import {
  type OidcProvider,
  type ProviderOptions,
  startProvider,
} from '../support/oidc-provider.js';
import { CALLBACK, OidcCluster } from './oidc-cluster.js';

describe('a client of an OpenID provider', () => {
  let provider: OidcProvider;
  let field: OidcCluster;
  before(async () => {
    provider = await startProvider();
    field = await OidcCluster.open(1, {
      get issuer() {
        return provider.issuer;
      },
      logIn: (url) => provider.logIn(url, 'eve'),
    });
  });
  afterEach(() => provider.close());
  after(() => field?.cluster.close());

  /** Goes on with a provider with these options. */
  async function use(options: ProviderOptions, config: object = {}): Promise<void> {
    await provider.close();
    provider = await startProvider({ redirectUris: [CALLBACK], ...options });
    provider.setAccount('eve', { email: 'eve@example.com', groups: ['dev'], name: 'Eve' });
    await field.rewriteMethod(config);
  }
  /** Logs in and renews. */
  async function lives(): Promise<void> {
    const token = await field.logIn(0, 0);
    const { status, text, body } = await field.renew(token, 0);
    expect(status, text).to.equal(200);
    for (const { Roles } of [token, body]) expect(Roles[0].Name).to.equal('dev');
  }

  it('cannot ask for an authentication context', async () => {
    const answer = await field.cluster.ask(
      'PUT /acl/auth-method/staff',
      field.method({ oidcACRValues: ['phishing-resistant'] }),
    );
    expect([answer.status, answer.text]).to.deep.equal([
      400,
      'Invalid Auth Method: OIDCACRValues is not supported: ' +
        'bind on the claim acr with a selector',
    ]);
  });

  it('does not send the secret of one provider to another', async () => {
    await use({});
    const { OIDCDiscoveryURL } = field.method().Config;
    const Config = { OIDCDiscoveryURL: 'http://127.0.0.1:9', OIDCClientSecret: '<hidden>' };
    for (const [call, body] of [
      ['PUT /acl/auth-method/staff', field.method(Config)],
      ['PATCH /acl/auth-method/staff', { Config: { OIDCDiscoveryURL: 'http://127.0.0.1:9' } }],
    ] as const) {
      const answer = await field.cluster.ask(call, body);
      expect([answer.status, answer.text]).to.deep.equal([
        400,
        'a new OIDCDiscoveryURL needs its secret: "<hidden>" would send it that of another server',
      ]);
    }
    const kept = await field.cluster.must('GET /acl/auth-method/staff');
    expect(kept.Config.OIDCDiscoveryURL).to.equal(OIDCDiscoveryURL);
  });

  it('sends the secret in the body, where the provider takes it there alone', async () => {
    await use({ clientAuth: 'client_secret_post' });
    await lives();
  });

  it('needs no secret if it is public', async () => {
    await use({ clientAuth: 'none' }, { OIDCClientSecret: '' });
    await lives();
  });

  it('is refused with the wrong secret', async () => {
    await use({}, { OIDCClientSecret: 'wrong' });
    expect(await field.reasonOf(await field.attempt(0, 0))).to.equal('code');
  });

  it('encodes its id and its secret', async () => {
    await use({ clientId: 'a client: 1+1 %' }, { OIDCClientID: 'a client: 1+1 %' });
    await lives();
  });

  it('reads groups from UserInfo, and at a renewal from UserInfo alone', async () => {
    await use({ userInfoOnly: true, idTokenOnRefresh: false });
    await lives();
    expect(provider.requests.get('/me')).to.equal(2);
  });

  it('asks UserInfo for nothing that the ID token has', async () => {
    await use({});
    await lives();
    expect(provider.requests.get('/me')).to.equal(undefined);
  });

  it('gets another Subject, and no Renewal, if the method says so', async () => {
    const OIDCScopes = ['email', 'groups', 'profile'];
    await use({}, { IdentityClaim: 'email', OIDCScopes });
    const token = await field.logIn(0, 0);
    expect(token.Identity.Subject).to.equal('eve@example.com');
    expect(token).to.not.have.property('Renewal');
  });

  it('cannot renew when the Subject has changed', async () => {
    await use({}, { IdentityClaim: 'email' });
    const token = await field.logIn(0, 0);
    provider.setAccount('eve', { email: 'eve@example.org', groups: ['dev'] });
    expect(await field.reasonOf(await field.renew(token, 0))).to.equal('subject');
  });
});
