/** Fields and rules of jwt-provider, and of what names one, beyond the recorded table. */
import { expect } from 'chai';
import type { Kind } from '../../src/kinds/types.js';
import { decodeEntry } from './decode-entry.js';

const LOCAL = { Local: { Filename: '/k' } };
const provider = (more: object) => ({
  Kind: 'jwt-provider',
  Name: 'p',
  JSONWebKeySet: LOCAL,
  ...more,
});
const local = (Local: object) => provider({ JSONWebKeySet: { Local } });
const remote = (more: object) =>
  provider({ JSONWebKeySet: { Remote: { URI: 'https://keys.example', ...more } } });
const cluster = (JWKSCluster: object) => remote({ JWKSCluster });
const trusted = (TrustedCA: object) => cluster({ TLSCertificates: { TrustedCA } });
const backOff = (RetryPolicyBackOff: object) => remote({ RetryPolicy: { RetryPolicyBackOff } });
const claims = (...VerifyClaims: unknown[]) => ({ Providers: [{ Name: 'p', VerifyClaims }] });
const intentions = (JWT: unknown, source: object = { Action: 'allow' }) => ({
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [{ Name: 'a', ...source }],
  JWT,
});
const gateway = (listener: object) => ({
  Kind: 'api-gateway',
  Name: 'gw',
  Listeners: [{ Name: 'l', Port: 80, Protocol: 'http', ...listener }],
});
const route = (JWT: unknown, more: object = {}) => ({
  Kind: 'http-route',
  Name: 'r',
  Rules: [{ Filters: { JWT }, Services: [{ Name: 's', Filters: { JWT } }] }],
  ...more,
});

const outcome = (body: unknown) => {
  const decoded = decodeEntry(JSON.parse(JSON.stringify(body)), { namespace: 'default' });
  return decoded.ok
    ? { text: JSON.stringify(decoded.entry) }
    : { ...decoded.refusal, text: decoded.refusal.message };
};

const REFUSED: readonly (readonly [what: object, words: string])[] = [
  [provider({ Name: '' }), 'Name is required'],
  [provider({ JSONWebKeySet: undefined }), 'JSONWebKeySet is required'],
  [provider({ JSONWebKeySet: null }), 'JSONWebKeySet is required'],
  [
    provider({ JSONWebKeySet: { Local: {}, Remote: {} } }),
    'must specify exactly one of Local or Remote JSON Web key set',
  ],
  [
    local({ JWKS: 'e30=', Filename: '/k' }),
    'must specify exactly one of String or filename for local keyset',
  ],
  ...['{}', 'e30', 'e3==0', '=e30', 'e30=\t', 'e_-=', 'é30='].map(
    (JWKS) => [local({ JWKS }), 'JWKS must be valid base64 encoded string'] as const,
  ),
  [local({ JWKS: ['e30='] }), "'JSONWebKeySet.Local.JWKS' expected type 'string'"],
  [remote({ URI: 'h' }), 'Remote JWKS URI is invalid: invalid URI for request, uri: h'],
  // Numbers below zero where none make sense.
  [remote({ RequestTimeoutMs: -1 }), "cannot parse 'JSONWebKeySet.Remote.RequestTimeoutMs'"],
  [remote({ RequestTimeoutMs: 1.5 }), 'expected a whole number'],
  [remote({ CacheDuration: '-1s' }), 'CacheDuration cannot be negative'],
  [remote({ RetryPolicy: { NumRetries: -1 } }), 'NumRetries'],
  [backOff({ BaseInterval: -1 }), 'BaseInterval cannot be negative'],
  [backOff({ MaxInterval: '-1s' }), 'MaxInterval cannot be negative'],
  [cluster({ ConnectTimeout: '-5s' }), 'ConnectTimeout cannot be negative'],
  [provider({ CacheConfig: { Size: -1 } }), "cannot parse 'CacheConfig.Size'"],
  [provider({ ClockSkewSeconds: -1 }), "cannot parse 'ClockSkewSeconds'"],
  [backOff({ BaseInterval: '2s', MaxInterval: 1 }), 'should be greater or equal to BaseInterval'],
  [cluster({ DiscoveryType: 'eds' }), 'unsupported jwks cluster discovery type: "eds"'],
  [trusted({ InlineBytes: '!!' }), 'InlineBytes must be valid base64 encoded string'],
  [trusted({ InlineBytes: [1, 2, 3] }), "InlineBytes' expected type 'string'"],
  [provider({ Forwarding: {} }), 'Header name required for forwarding config'],
  [provider({ Forwarding: { HeaderName: '' } }), 'Header name required for forwarding config'],
  // One bad item does not end the connection.
  [provider({ Locations: [null] }), "'Locations[0]' expected a map"],
  [provider({ Audiences: [null] }), "'Audiences[0]' expected type 'string'"],
  [provider({ Locations: {} }), "'Locations' expected a list"],
  [provider({ Audiences: Array(2001).fill('a') }), "'Audiences' has 2001 items"],
  [provider({ Meta: { a: 'x'.repeat(513) } }), 'exceeds maximum length 512'],
  [provider({ Path: '/' }), 'invalid config key "Path"'],
  [provider({ jsonWebKeySet: LOCAL }), 'did you mean "JSONWebKeySet"'],
  [provider({ json_web_key_set: LOCAL }), 'is already given as "JSONWebKeySet"'],
  [provider({ Partition: 'p' }), 'partitions are a feature that this server does not have'],
  // The first fault ends the check, but for locations.
  [provider({ JSONWebKeySet: {}, Locations: [{}], Forwarding: {} }), 'must specify exactly one of'],
  [provider({ Locations: [{}], Forwarding: {} }), 'must set exactly one of: JWT location'],

  [intentions({ Providers: [null] }), "'JWT.Providers[0]' expected a map"],
  [intentions({ Providers: [{}, { Name: '' }] }), 'JWT provider name is required'],
  [intentions(claims(null)), 'VerifyClaims[0]'],
  [intentions(claims({ Path: [null] })), 'Path[0]'],
  [intentions(claims({ Path: 'a' })), "Path' expected a list"],
  [intentions({ Provider: [] }), 'did you mean "Providers"'],
  [
    { ...intentions({}), Sources: [{ Name: 'a', Action: 'allow', JWT: {} }] },
    'invalid config key "Sources[0].JWT"',
  ],
  [gateway({ Default: { JWT: { Providers: [{}] } } }), 'JWT provider name is required'],
  [gateway({ Override: { JWT: { Providers: [{}] } } }), 'JWT provider name is required'],
  [gateway({ Override: { JWT: { Providers: [] } } }), 'api-gateway jwt validation is a list'],
  [gateway({ JWT: {} }), 'api-gateway jwt validation is a member of Default, Override and Filters'],
  [gateway({ Default: { TLS: {} } }), 'invalid config key "Listeners[0].Default.TLS"'],
  [route({ Providers: [] }), 'api-gateway jwt validation is a list'],
  [route({ Providers: [{}] }), 'JWT provider name is required'],
  [route(null, { JWT: {} }), 'api-gateway jwt validation is a member'],
  [
    { Kind: 'sameness-group', Name: 'g' },
    'invalid config entry kind: sameness-group, a feature that this server does not have',
  ],
  [
    { Kind: 'control-plane-request-limit', Name: 'g' },
    'kind: control-plane-request-limit, a feature that this server does not have',
  ],
];

const ACCEPTED: readonly (readonly [what: object, stored: string])[] = [
  [provider({}), '{"Kind":"jwt-provider","Name":"p","JSONWebKeySet":{"Local":{"Filename":"/k"}},'],
  [provider({ Name: '*' }), '"Name":"*"'],
  [provider({ Name: 'a b/c' }), '"Name":"a b/c"'],
  [provider({ ClockSkewSeconds: 0 }), '"ClockSkewSeconds":30'],
  [provider({ Partition: 'default' }), '"ClockSkewSeconds":30}'],
  [provider({ Audiences: [], Locations: [] }), '{"Filename":"/k"}},"ClockSkewSeconds":30}'],
  [local({ JWKS: 'e3\n0=\r\n' }), '"JWKS":"e3\\n0=\\r\\n"'],
  [backOff({ BaseInterval: '2s', MaxInterval: 0 }), '{"BaseInterval":2000000000}'],
  [cluster({ DiscoveryType: '' }), '"JWKSCluster":{}'],
  // base64 is answered as it was sent, so that writing back what was read changes nothing.
  [trusted({ InlineBytes: 'QVFJRA==' }), '"InlineBytes":"QVFJRA=="'],
  [intentions(claims({}, { Path: [] }, { Path: ['a', ''], Value: 'x' })), '[{},{},{"Path":'],
  [gateway({ Default: {}, Override: { JWT: {} } }), '"Override":{"JWT":{}},"Default":{}'],
  [gateway({ Default: { JWT: claims({ Path: ['a'] }) } }), '[{"Name":"p","VerifyClaims":'],
  [gateway({ Default: { jwt: { providers: [{ name: 'p' }] } } }), '"Providers":[{"Name":"p"}]'],
  [route({ Providers: [{ Name: 'p' }] }), '"JWT":{"Providers":[{"Name":"p"}]}},"ResponseFilters"'],
  [route({}), '"JWT":{}'],
  [route(null), '"JWT":null'],
];

describe('kinds: jwt-provider', () => {
  for (const [body, words] of REFUSED) {
    it(`is refused: ${JSON.stringify(body).slice(0, 160)}: ${words}`, () => {
      expect(outcome(body)).to.have.property('code', 'invalid');
      expect(`${outcome(body).text} ${(outcome(body) as { hint?: string }).hint}`).to.contain(
        words,
      );
    });
  }

  for (const [body, stored] of ACCEPTED) {
    it(`is accepted, and keeps its form: ${JSON.stringify(body).slice(0, 160)}`, () => {
      const { text } = outcome(body);
      expect(text).to.contain(stored);
      expect(outcome(JSON.parse(text)).text).to.equal(text);
    });
  }

  it('lists the faults of all locations', () => {
    const Locations = [{ Header: { Name: 'h' } }, {}, { QueryParam: {} }, { Cookie: {} }];
    expect(outcome(provider({ Locations })).text).to.equal(
      '3 errors occurred: must set exactly one of: JWT location header, query param or cookie; ' +
        'JWT location query param name must be specified; ' +
        'JWT location cookie name must be specified',
    );
  });

  it('takes a large key set', () => {
    const JWKS = 'A'.repeat(900_000);
    expect(outcome(local({ JWKS })).text).to.contain(JWKS);
    expect(outcome(local({ JWKS: `${JWKS}A` })).text).to.contain('valid base64');
  });

  it('shows no secret of the body in a refusal', () => {
    for (const JWKS of ['secret-jwks', { k: 'secret-jwks' }]) {
      expect(JSON.stringify(outcome(local({ JWKS })))).not.to.contain('secret-jwks');
    }
  });

  it('is suggested for a misspelled kind', () => {
    expect(outcome({ Kind: 'jwt-providers' as Kind, Name: 'p' })).to.deep.include({
      hint: 'Did you mean "jwt-provider"?',
    });
  });
});
