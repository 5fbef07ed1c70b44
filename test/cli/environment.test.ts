import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addressesOf,
  type CommonOptions,
  surroundingsOf,
} from '../../src/cli/client/environment.js';
import type { Profiles } from '../../src/cli/client/profiles.js';

const hrefs = (text: string, isSecure = false): string[] =>
  addressesOf(text, { isSecure }).map(({ href }) => href);

describe('addresses of the client', () => {
  const cases: readonly (readonly [text: string, urls: readonly string[]])[] = [
    ['localhost:8501', ['http://localhost:8501/']],
    [':8503', ['http://127.0.0.1:8503/']],
    ['10.0.0.1', ['http://10.0.0.1:8500/']],
    ['[::1]:8500', ['http://[::1]:8500/']],
    ['https://a.example', ['https://a.example/']],
    ['http://a:1, https://b:2', ['http://a:1/', 'https://b:2/']],
  ];
  for (const [text, urls] of cases)
    it(`reads ${text}`, () => expect(hrefs(text)).to.deep.equal(urls));

  it('speaks https to addresses without a scheme where the environment says so', () => {
    expect(hrefs('a:1,http://b:2', true)).to.deep.equal(['https://a:1/', 'http://b:2/']);
  });

  for (const text of ['', 'unix:///run/x', 'http://', 'http://me:secret@a:1', 'a b:1'])
    it(`refuses "${text}"`, () => {
      expect(() => hrefs(text))
        .to.throw(/--http-addr/)
        .with.nested.property('details.code');
    });
});

describe('where a command goes, and as whom', () => {
  const home = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  after(() => rmSync(home, { recursive: true, force: true }));
  const of = (
    options: CommonOptions,
    env: Record<string, string> = {},
    profiles: Profiles = { profiles: {} },
  ) => surroundingsOf(options, { env, home }, profiles);
  const profiles: Profiles = {
    current: 'lab',
    profiles: {
      lab: { httpAddr: 'lab:1', namespace: 'team', tokenFile: '/lab' },
      live: { httpAddr: 'live:1', tokenFile: '/live' },
    },
  };
  const address = (found: ReturnType<typeof of>): string => found.addresses[0]!.host;

  it('asks the node of this machine where nothing is said', () => {
    const found = of({});
    expect(address(found)).to.equal('127.0.0.1:8500');
    expect(found).to.deep.include({ token: { type: 'none' }, namespace: undefined });
    expect(found.tls).to.deep.equal({ verify: true });
  });

  it('takes the option first, then the environment, then the current profile', () => {
    const env = { CONSUL_HTTP_ADDR: 'peer:1', CONCLAVE_URL: 'http://url:1' };
    expect(address(of({ httpAddr: 'option:1' }, env, profiles))).to.equal('option:1');
    expect(address(of({}, env, profiles))).to.equal('url:1');
    expect(address(of({}, { CONSUL_HTTP_ADDR: 'peer:1' }, profiles))).to.equal('peer:1');
    expect(address(of({}, { CONSUL_HTTP_ADDR: '' }, profiles))).to.equal('lab:1');
    expect(of({}, {}, profiles)).to.include({ namespace: 'team', profile: 'lab' });
  });

  it('takes a profile that is named before the environment, its token too', () => {
    const env = { CONSUL_HTTP_ADDR: 'peer:1', CONSUL_HTTP_TOKEN: 'x' };
    const found = of({ profile: 'live' }, env, profiles);
    expect(address(found)).to.equal('live:1');
    expect(found.token).to.deep.equal({ type: 'file', path: '/live', from: 'profile live' });
    const variable = of({}, { ...env, CONCLAVE_PROFILE: 'live' }, profiles);
    expect(address(variable)).to.equal('live:1');
  });

  it('refuses a profile that does not exist', () => {
    for (const profile of ['none', 'constructor'])
      expect(() => of({ profile }, {}, profiles)).to.throw(`there is no profile "${profile}"`);
  });

  it('looks for a token: option, own variables, those of the peer, the login', () => {
    const env = {
      CONCLAVE_TOKEN: 'a',
      CONCLAVE_HTTP_TOKEN_FILE: '/b',
      CONSUL_HTTP_TOKEN: 'c',
      CONSUL_HTTP_TOKEN_FILE: '/d',
    };
    const sources = [of({ tokenFile: '/o' }, env).token];
    for (const name of Object.keys(env) as (keyof typeof env)[]) {
      sources.push(of({}, env).token);
      env[name] = '';
    }
    mkdirSync(join(home, '.config/conclave'), { recursive: true });
    writeFileSync(join(home, '.config/conclave/token'), 'x\n');
    sources.push(of({}, env).token);
    expect(
      sources.map((one) => ('path' in one ? one.path : 'name' in one ? one.name : '')),
    ).to.deep.equal([
      '/o',
      'CONCLAVE_TOKEN',
      '/b',
      'CONSUL_HTTP_TOKEN',
      '/d',
      join(home, '.config/conclave/token'),
    ]);
  });

  it('reads files and names for TLS from the variables of both names', () => {
    const { tls } = of(
      { caFile: '/ca' },
      { CONSUL_CLIENT_CERT: '/c', CONCLAVE_CLIENT_KEY: '/k', CONSUL_HTTP_SSL_VERIFY: 'false' },
    );
    expect(tls).to.deep.equal({
      caFile: '/ca',
      clientCert: '/c',
      clientKey: '/k',
      verify: false,
    });
  });
});
