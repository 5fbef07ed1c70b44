import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConfigError, envName, flagName, loadConfig } from '../../src/config/config.js';
import { SETTINGS } from '../../src/config/settings.js';
import { inTicks } from '../../src/node/options.js';
import { bootstrapSecret, checkKeyFiles } from '../../src/program/key-files.js';
import { checkOptions } from '../../src/raft/options.js';

const BYTES = { maxAppendBytes: 1, maxInflightBytes: 1, maxUncommittedBytes: 1 };
const RAFT = { id: 'a', ...BYTES, random: Math.random };

describe('config', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-config-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = (content: unknown): string => {
    const path = join(folder, 'node.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const faults = (content: unknown, rest: object = {}): readonly string[] => {
    try {
      loadConfig({ file: file(content), ...rest });
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
    return [];
  };

  it('names what a member of a sink can be', () => {
    for (const [member, values] of [
      ['type', 'file or stdout'],
      ['scope', 'writes or all'],
      ['deliveryGuarantee', 'best-effort or required'],
    ])
      expect(faults({ audit: { sinks: { a: { path: 'a', [member!]: 'x' } } } })[0]).to.match(
        new RegExp(`^audit\\.sinks\\.a\\.${member}: .*: ${values}`),
      );
  });

  it('needs no settings: the defaults are a standalone node on loopback', () => {
    const config = loadConfig({});
    expect(config.http).to.include({ host: '127.0.0.1', port: 8500, headerPrefix: 'X-Service' });
    expect(config.raft.advertise).to.equal('127.0.0.1:8300');
    expect(config.cluster).to.deep.equal({ initial: [], join: [] });
    expect(config.limits.bodyBytes).to.equal(1_048_576);
    expect(config.nodeName).to.be.a('string').with.length.greaterThan(0);
  });

  it('lets flags override the environment, and the environment the file', () => {
    const config = loadConfig({
      file: file({
        http: { port: 1001, host: '127.0.0.2' },
        nodeName: 'a',
        log: { level: 'warn' },
      }),
      env: { CONCLAVE_HTTP_PORT: '1002', CONCLAVE_NODE_NAME: 'b', CONCLAVE_LOG_LEVEL: '' },
      flags: { 'http.port': '1003' },
    });
    expect(config.http).to.include({ port: 1003, host: '127.0.0.2' });
    expect(config.nodeName).to.equal('b');
    expect(config.log.level).to.equal('warn');
  });

  it('reads lists, members, booleans and maps from text', () => {
    const config = loadConfig({
      env: {
        CONCLAVE_NODE_NAME: 'n1',
        CONCLAVE_CLUSTER_INITIAL: 'n1=127.0.0.1:8300,n2=127.0.0.1:8301',
        CONCLAVE_RAFT_INSECURE: '1',
        CONCLAVE_HTTP_BLOCKED_PATHS: '/v1/snapshot',
        CONCLAVE_HTTP_RESPONSE_HEADERS: '{"X-Frame-Options":"DENY"}',
        CONCLAVE_HTTP_TOKEN_IN_QUERY: 'true',
      },
    });
    expect(config.cluster.initial).to.deep.equal([
      { name: 'n1', address: '127.0.0.1:8300' },
      { name: 'n2', address: '127.0.0.1:8301' },
    ]);
    expect(config.http.blockedPaths).to.deep.equal(['/v1/snapshot']);
    expect(config.http.responseHeaders).to.deep.equal({ 'X-Frame-Options': 'DENY' });
    expect(config.http.tokenInQuery).to.equal(true);
  });

  it('ignores white space around the items of a list, and empty items', () => {
    const config = loadConfig({
      env: {
        CONCLAVE_NODE_NAME: 'n1',
        CONCLAVE_CLUSTER_INITIAL: ' n1=127.0.0.1:8300, n2=127.0.0.1:8301 ',
        CONCLAVE_RAFT_INSECURE: '1',
        CONCLAVE_HTTP_BLOCKED_PATHS: '/v1/snapshot, /v1/acl/bootstrap, ,',
      },
      flags: { 'http.allowedHosts': 'localhost, \tconclave.example.com\n' },
    });
    expect(config.http.blockedPaths).to.deep.equal(['/v1/snapshot', '/v1/acl/bootstrap']);
    expect(config.http.allowedHosts).to.deep.equal(['localhost', 'conclave.example.com']);
    expect(config.cluster.initial.map(({ name }) => name)).to.deep.equal(['n1', 'n2']);
  });

  it('reads a secret from the file that a setting names', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'a-secret-of-the-operator\n');
    const config = loadConfig({ env: { CONCLAVE_ACL_BOOTSTRAP_SECRET_FILE: file } });
    expect(bootstrapSecret(config)).to.equal('a-secret-of-the-operator');
    writeFileSync(file, 'short\n');
    expect(checkKeyFiles(config).faults).to.deep.equal([
      `acl.bootstrapSecretFile: ${file} does not contain 16 to 256 printable characters other than space and comma`,
    ]);
  });

  it('gives every setting a reason, an environment variable and a flag of its own', () => {
    expect(new Set(SETTINGS.map(({ key }) => envName(key))).size).to.equal(SETTINGS.length);
    expect(new Set(SETTINGS.map(({ key }) => flagName(key))).size).to.equal(SETTINGS.length);
    expect(envName('raft.sharedKeyFile')).to.equal('CONCLAVE_RAFT_SHARED_KEY_FILE');
    expect(flagName('raft.sharedKeyFile')).to.equal('--raft-shared-key-file');
    for (const { key, why } of SETTINGS) expect(why, key).to.have.length.greaterThan(10);
  });

  it('accepts a lease of 0, which disables leases', () => {
    const config = loadConfig({ file: file({ raft: { leaseMs: 0 } }) });
    expect(config.raft.leaseMs).to.equal(0);
  });

  describe('refuses', () => {
    const refused: readonly [string, unknown, RegExp][] = [
      [
        'an unknown key, with the nearest known one',
        { http: { prot: 1 } },
        /^http\.prot: there is no such setting; did you mean http\.port\?$/,
      ],
      ['a wrong type', { http: { port: '8500' } }, /^http\.port: must be an integer \(port/],
      ['a port out of range', { http: { port: 70_000 } }, /^http\.port: must be at most 65535/],
      [
        'members without protection, even on loopback',
        { nodeName: 'a', cluster: { initial: ['a=127.0.0.1:8300', 'b=127.0.0.1:8301'] } },
        /^raft\.sharedKeyFile: members need a shared key .*raft\.insecure/,
      ],
      [
        'joining members without protection',
        { cluster: { join: ['127.0.0.1:8301'] } },
        /^raft\.sharedKeyFile: members need a shared key/,
      ],
      [
        'raft.insecure together with a key',
        { raft: { insecure: true, sharedKeyFile: 'key' } },
        /^raft\.insecure: must be false/,
      ],
      [
        'raft.insecure where other machines reach the members',
        { raft: { host: '0.0.0.0', advertise: '10.0.0.1:8300', insecure: true } },
        /^raft\.host: other machines can reach 0\.0\.0\.0, so/,
      ],
      [
        'an unknown choice',
        { acl: { defaultPolicy: 'maybe' } },
        /^acl\.defaultPolicy: .*allow or deny/,
      ],
      [
        'a list that is text',
        { http: { blockedPaths: '/v1' } },
        /^http\.blockedPaths: must be a list/,
      ],
      [
        'an empty item of a list',
        { http: { blockedPaths: ['/v1', ''] } },
        /^http\.blockedPaths\.1: must NOT have fewer than 1 characters/,
      ],
      [
        'a blocked path that no request could have',
        { http: { blockedPaths: ['/v1/snapshot', ' /v1/acl/bootstrap'] } },
        /^http\.blockedPaths: " \/v1\/acl\/bootstrap" is not a path/,
      ],
      [
        'a blocked path without its first slash',
        { http: { blockedPaths: ['v1/snapshot'] } },
        /^http\.blockedPaths: "v1\/snapshot" is not a path: expected one such as \/v1\/snapshot$/,
      ],
      [
        'a number in a map',
        { http: { responseHeaders: { Server: 1 } } },
        /^http\.responseHeaders\.Server: must be a string/,
      ],
      [
        'an empty text',
        { dataDir: '' },
        /^dataDir: must NOT have fewer than 1 characters \(folder of/,
      ],
      [
        'a text without the form',
        { datacenter: 'DC 1' },
        /^datacenter: must match pattern "\^\[a-z/,
      ],
      ['a fraction', { http: { port: 1.5 } }, /^http\.port: must be an integer/],
      ['a port below 0', { http: { port: -1 } }, /^http\.port: must be at least 0/],
      ['a value for a group', { http: { tls: 'cert.pem' } }, /^http\.tls: must be an object$/],
      [
        'a member that is there twice',
        { cluster: { initial: ['a=h:1', 'a=h:1'] } },
        /^cluster\.initial: must NOT have duplicate items/,
      ],
      [
        'the name of the prototype',
        JSON.parse('{"__proto__": {}}'),
        /^__proto__: there is no such/,
      ],
      ['an inherited name', { http: { constructor: 1 } }, /^http\.constructor: there is no such/],
      [
        'a member without an address',
        { cluster: { initial: ['n1'] } },
        /^cluster\.initial\.0: must be name=host:port \(members of/,
      ],
      [
        'an address longer than members accept',
        { raft: { advertise: `${'a'.repeat(1100)}:8300` } },
        /^raft\.advertise: ".*" is longer than 1024 characters/,
      ],
      [
        'a body whose command does not fit into a message between members',
        { limits: { bodyBytes: 12_000_000 } },
        /^limits\.bodyBytes: must be at most 41\d{5}/,
      ],
      [
        'a heartbeat as long as the election timeout',
        { raft: { heartbeatMs: 300 } },
        /^raft\.electionMs: must be at least twice raft\.heartbeatMs \(300\)/,
      ],
      [
        "a lease longer than the followers' silence",
        { raft: { leaseMs: 181 } },
        /^raft\.leaseMs: must be at most 180,/,
      ],
      [
        'a lease below the election timeout, but not below its whole ticks',
        { raft: { electionMs: 260, leaseMs: 185 } },
        /^raft\.leaseMs: must be at most 180, nine tenths of raft\.electionMs \(260\) in whole ticks less two/,
      ],
      [
        'a heartbeat whose whole ticks exceed half an election timeout',
        { raft: { tickMs: 100, heartbeatMs: 150, leaseMs: 1 } },
        /^raft\.electionMs: must be at least twice raft\.heartbeatMs \(150\)/,
      ],
      [
        'a deadline shorter than an election',
        { limits: { requestMs: 1000 }, raft: { electionMs: 300 } },
        /^limits\.requestMs: must be at least four times raft\.electionMs/,
      ],
      [
        'room for less than one body of an unknown caller',
        { limits: { anonymousBodyBytes: 200_000, pendingBodyBytes: 199_999 } },
        /^limits\.pendingBodyBytes: must be at least limits\.anonymousBodyBytes \(200000\)/,
      ],
      [
        'half of a TLS pair',
        { http: { tls: { cert: 'a.pem' } } },
        /^http\.tls: cert and key are needed together/,
      ],
      [
        'members reachable from other machines without TLS or key',
        { raft: { host: '0.0.0.0' } },
        /^raft\.host: .*raft\.sharedKeyFile/,
      ],
      [
        'an invalid advertised address',
        { raft: { host: '::', sharedKeyFile: 'k' } },
        /^raft\.advertise: .*\[::\]:8300/,
      ],
      [
        'joining and forming a cluster at once',
        { nodeName: 'a', cluster: { initial: ['a=h:1'], join: ['h:1'] } },
        /^cluster\.join: /,
      ],
      [
        'an initial cluster without this node',
        { nodeName: 'x', cluster: { initial: ['a=h:1'] } },
        /^cluster\.initial: does not name this node \(x\)/,
      ],
      [
        'two members at one address',
        { nodeName: 'a', cluster: { initial: ['a=h:1', 'b=h:1'] } },
        /^cluster\.initial: gives two members the same address$/,
      ],
      [
        'members to join with an invalid address',
        { cluster: { join: ['h:1', 'elsewhere'] } },
        /^cluster\.join: "elsewhere" is not an address: expected host:port/,
      ],
      [
        'an address with white space',
        { cluster: { join: ['h:1', ' g:1'] } },
        /^cluster\.join: " g:1" is not an address/,
      ],
      [
        'an invalid advertised port',
        { raft: { advertise: 'h:99999' } },
        /^raft\.advertise: "h:99999" is not an address/,
      ],
      [
        'an issuer host that is a URL',
        { login: { allowedHosts: ['*.example.com', '[::1]:8200', 'https://idp.example.com/'] } },
        /^login\.allowedHosts: "https:\/\/idp\.example\.com\/" is not a host: expected /,
      ],
      [
        'two ways to protect peer traffic',
        { raft: { sharedKeyFile: 'k', tls: { cert: 'c', key: 'k', ca: 'a', name: 'n' } } },
        /^raft\.sharedKeyFile: .* not both$/,
      ],
      [
        'the same port twice',
        { http: { port: 9000 }, raft: { port: 9000 } },
        /^raft\.port: is the same as http\.port/,
      ],
      [
        'an initial token that is not a UUID',
        { acl: { initialManagement: 'secret' } },
        /^acl\.initialManagement: must be a UUID/,
      ],
      ['a file that is not an object', '[]', /expected a JSON object/],
      ['a file that is not JSON', '{', /node\.json: /],
    ];
    for (const [title, content, expected] of refused)
      it(title, () =>
        expect(faults(content)).to.satisfy(
          (list: string[]) => list.some((f) => expected.test(f)),
          `${faults(content)}`,
        ),
      );

    it('exactly the timings that Raft would refuse', () => {
      const ms = (max: number) => fc.integer({ min: 1, max });
      const times = fc
        .record({ tickMs: ms(60), heartbeatMs: ms(200), electionMs: ms(500), leaseMs: ms(400) })
        .filter(({ tickMs, heartbeatMs }) => tickMs <= heartbeatMs);
      fc.assert(
        fc.property(times, (raft) => {
          const found = faults({ raft, limits: { requestMs: 10_000 } });
          const problem = checkOptions({ ...RAFT, ...inTicks(raft) });
          expect(found.length > 0, `${found}`).to.equal(problem !== undefined, problem);
        }),
      );
    });

    it('unparsable text, naming its source', () => {
      expect(faults({}, { env: { CONCLAVE_HTTP_PORT: 'x' } })).to.deep.equal([
        'http.port: CONCLAVE_HTTP_PORT cannot be read as integer',
      ]);
      expect(faults({}, { flags: { 'http.port': '-1' } })).to.deep.equal([
        'http.port: --http-port cannot be read as integer',
      ]);
    });

    it('variables that nearly match a setting, and no others', () => {
      const env = {
        CONCLAVE_HTTP_PROT: '1',
        CONCLAVE_TOKEN: 'x',
        CONCLAVE_URL: 'x',
        CONCLAVE_HTTP_TOKEN: 'x',
        CONCLAVE_HTTP_ADDR: 'x',
        CONCLAVE_SERVICE_HOST: 'x',
        CONCLAVE_API_PORT_8500_TCP: 'x',
      };
      expect(faults({}, { env })).to.deep.equal([
        'CONCLAVE_HTTP_PROT: there is no such variable; did you mean CONCLAVE_HTTP_PORT?',
      ]);
    });

    it('several errors at once, and reports them all', () => {
      expect(faults({ http: { port: 'x', hots: 1 }, nope: 1 })).to.have.length(3);
    });

    it('secrets as flags, which other users of the machine can read', () => {
      const flags = { 'acl.initialManagement': '11111111-2222-4333-8444-555555555555' };
      const [fault, ...others] = faults({}, { flags });
      expect(others).to.deep.equal([]);
      expect(fault)
        .to.match(/^acl\.initialManagement: is a secret/)
        .and.to.include('acl.initialManagementFile')
        .and.not.to.include('11111111');
    });

    it("a secret's file that is missing, or set together with the secret itself", () => {
      const [name, path] = ['CONCLAVE_ACL_BOOTSTRAP_SECRET', join(folder, 'nowhere')];
      const config = loadConfig({ env: { [`${name}_FILE`]: path } });
      expect(checkKeyFiles(config).faults.join()).to.match(/^acl\.bootstrapSecretFile: ENOENT/);
      const both = { [name]: 'sixteen-and-more-of-it', [`${name}_FILE`]: path };
      expect(faults({}, { env: both }).join()).to.include('give one of them');
    });

    it('a secret, without repeating it', () => {
      expect(faults({ acl: { initialManagement: 'hunter2-secret' } }).join()).not.to.include(
        'hunter2',
      );
    });
  });
});
