/** How a body becomes an entry, beyond the recorded table. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { objectSchema } from '../../src/api/document/json-schema.js';
import { definitionOf } from '../../src/kinds/definitions.js';
import { Report } from '../../src/kinds/problems.js';
import { KINDS, type Kind } from '../../src/kinds/types.js';
import { decodeEntry } from './decode-entry.js';

const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as {
  readonly name: string;
  readonly input: unknown;
}[];
const context = { namespace: 'default' };
const decode = (body: unknown) => decodeEntry(body, context);
const defaults = (more: object) => ({ Kind: 'service-defaults', Name: 'web', ...more });

/** The refusal of a body. */
function refused(body: unknown) {
  const decoded = decode(body);
  if (decoded.ok) return expect.fail(`${JSON.stringify(body)} is accepted`);
  return decoded.refusal;
}
/** The entry of a body as JSON text. */
function accepted(body: unknown): string {
  const decoded = decode(body);
  return decoded.ok ? JSON.stringify(decoded.entry) : expect.fail(decoded.refusal.message);
}

describe('kinds: the decoder of entries', () => {
  const spellings: [string, object, string, string?][] = [
    ['other letter case', { PROTOCOL: 'http' }, 'invalid config key "PROTOCOL"', '"Protocol"'],
    ['a slip', { Protocl: 'http' }, 'invalid config key "Protocl"', '"Protocol"'],
    [
      'a wrong underscore',
      { mesh_gate_way: {} },
      'invalid config key "mesh_gate_way"',
      '"MeshGateway"',
    ],
    [
      'lower case where there is a snake_case name',
      { meshgateway: {} },
      'invalid config key "meshgateway"',
    ],
    ['nothing near', { Colour: 'red' }, 'invalid config key "Colour"'],
    ['both spellings', { Protocol: 'http', protocol: 'tcp' }, 'already given as "Protocol"'],
    ['partitions', { Partition: 'p' }, 'partitions are a feature that this server does not have'],
    ['an inherited name', { constructor: {} }, 'invalid config key "constructor"'],
  ];
  for (const [title, more, message, hint] of spellings) {
    it(`refuses ${title}`, () => {
      const why = refused(defaults(more));
      expect(why.message).to.contain(message);
      expect(why.code).to.equal('invalid');
      if (hint !== undefined) expect(why.hint).to.contain(`did you mean ${hint}?`);
    });
  }

  it('accepts the partition default wherever one may be given, and does not store it', () => {
    const consumers = [{ Partition: 'default' }, { Peer: 'p', Partition: 'default' }];
    const bodies: [object, string][] = [
      [defaults({ Partition: 'default' }), accepted(defaults({}))],
      [defaults({ partition: '' }), accepted(defaults({}))],
      [
        {
          Kind: 'exported-services',
          Name: 'default',
          Services: [{ Name: 'a', Consumers: consumers }],
        },
        '{"Kind":"exported-services","Name":"default","Services":[{"Name":"a","Consumers":[{},{"Peer":"p"}]}]}',
      ],
      [
        {
          ...{ Kind: 'service-resolver', Name: 'x' },
          Redirect: { Service: 'y', Partition: 'default' },
        },
        '{"Kind":"service-resolver","Name":"x","Redirect":{"Service":"y"}}',
      ],
      [
        {
          ...{ Kind: 'service-resolver', Name: 'x' },
          Failover: { '*': { Targets: [{ Service: 'y', Partition: 'default' }] } },
        },
        '{"Kind":"service-resolver","Name":"x","Failover":{"*":{"Targets":[{"Service":"y"}]}}}',
      ],
      [
        {
          ...{ Kind: 'service-intentions', Name: 'x' },
          Sources: [{ Name: 'y', Action: 'allow', Partition: 'default' }],
        },
        '{"Kind":"service-intentions","Name":"x","Sources":[{"Name":"y","Action":"allow","Precedence":9,"Type":"consul"}]}',
      ],
    ];
    for (const [body, text] of bodies) expect(accepted(body)).to.equal(text);
    expect(refused(defaults({ Meta: { a: 'b' }, Partition: 7 })).message).to.contain('partitions');
    const alone = { Kind: 'service-resolver', Name: 'x', Redirect: { Partition: 'default' } };
    expect(refused(alone).message).to.equal('Redirect is empty');
  });

  it("reports the position as a path in the API's names and as a JSON pointer", () => {
    const why = refused(defaults({ UpstreamConfig: { Overrides: [{ Name: 'a', 'x/y': 1 }] } }));
    expect(why.message).to.contain('invalid config key "UpstreamConfig.Overrides[0].x/y"');
    expect(why.pointer).to.equal('/UpstreamConfig/Overrides/0/x~1y');
  });

  it('points at the member that is wrong, in the spelling of the body', () => {
    const service = { Name: 'b', TLS: { SDS: { ClusterName: 'c', CertResource: 'r' } } };
    const pointers: [object, string][] = [
      [
        { kind: 'service-resolver', name: 'x', load_balancer: { policy: 'zz' } },
        '/load_balancer/policy',
      ],
      [
        { Kind: 'service-resolver', Name: 'x', LoadBalancer: { Policy: 'zz' } },
        '/LoadBalancer/Policy',
      ],
      [{ Kind: 'nothing', Name: 'x' }, '/Kind'],
      [{ kind: 'nothing', name: 'x' }, '/kind'],
      [
        {
          Kind: 'ingress-gateway',
          Name: 'x',
          Listeners: [{ Port: 1, Protocol: 'http', Services: [{ Name: 'a' }, service] }],
        },
        '/Listeners/0/Services/1/TLS/SDS',
      ],
    ];
    for (const [body, pointer] of pointers) expect(refused(body).pointer).to.equal(pointer);
  });

  it('suggests a kind only for a text that is much like one', () => {
    for (const Kind of ['', 'x', 'zz']) {
      expect(refused({ Kind, Name: 'x' }).hint).to.contain('Known kinds');
    }
    expect(refused({ Kind: 'mash', Name: 'x' }).hint).to.equal('Did you mean "mesh"?');
  });

  it('takes any host for a listener with TLS of its own', () => {
    const Services = [{ Name: 'a', Hosts: ['*'] }];
    const gateway = (own: object, more: object = {}) => ({
      Kind: 'ingress-gateway',
      Name: 'x',
      ...more,
      Listeners: [{ Port: 1, Protocol: 'http', Services, ...own }],
    });
    expect(accepted(gateway({ TLS: { Enabled: true } }))).to.contain('"*"');
    expect(refused(gateway({}, { TLS: { Enabled: true } })).message).to.contain(
      "Host '*' is not allowed when TLS is enabled",
    );
  });

  it('takes the key of a certificate with the parameters of its curve before it', () => {
    const name = 'inline-certificate: minimal entry #1';
    const input = rows.find((row) => row.name === name)?.input as { PrivateKey: string };
    const parameters =
      '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    const PrivateKey = parameters + input.PrivateKey;
    expect(accepted({ ...input, PrivateKey })).to.contain('EC PARAMETERS');
    expect(refused({ ...input, PrivateKey: parameters }).message).to.equal(
      'failed to parse private key PEM',
    );
  });

  it('takes Kind, and ignores kind beside it', () => {
    expect(accepted({ kind: 'x', Kind: 'mesh' })).to.equal(accepted({ Kind: 'mesh' }));
  });

  it('counts many errors without listing them all', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, 1]));
    const { message } = refused(defaults(many));
    expect(message).to.contain('5000 errors occurred').and.to.contain('and 4990 more');
    expect(message.length).to.be.lessThan(2_000);
  });

  it('quotes only a short part of a body', () => {
    const long = 'x'.repeat(100_000);
    expect(refused(defaults({ [long]: 1 })).message.length).to.be.lessThan(1_000);
    expect(refused(defaults({ Protocol: long })).message.length).to.be.lessThan(1_000);
  });
});

describe('kinds: the decoder (empty objects of other editions)', () => {
  it('returns Override and Default of a listener as they were given', () => {
    const listener = { Name: 'l', Port: 80, Protocol: 'http', Override: {}, Default: {} };
    const text = accepted({ Kind: 'api-gateway', Name: 'gw', Listeners: [listener] });
    expect(text).to.contain('"CipherSuites":null},"Override":{},"Default":{}}]');
  });
});

describe('kinds: fields of later releases', () => {
  const gateway = (more: object) => ({
    ...{ Kind: 'api-gateway', Name: 'gw', ...more },
    Listeners: [{ Name: 'l', Port: 80, Protocol: 'http' }],
  });
  const route = (filters: object) => ({
    ...{ Kind: 'http-route', Name: 'r' },
    Rules: [{ Filters: filters, Services: [{ Name: 'web', Filters: filters }] }],
  });

  it('that clients always send are accepted if they are unset, and not returned', () => {
    for (const TLS of [null, {}, { Enabled: false }, { Enabled: false, CipherSuites: [] }]) {
      expect(accepted(gateway({ TLS }))).to.equal(accepted(gateway({})));
    }
    expect(accepted(route({ ExtProc: null, ExtAuthz: null }))).to.equal(accepted(route({})));
    expect(accepted(route({ ExtProc: [] }))).to.equal(accepted(route({})));
  });

  it('are refused if they are set', () => {
    const sentence = ', a feature of later releases of this API that this server does not have';
    expect(refused(gateway({ TLS: { Enabled: true } })).message).to.contain(
      `invalid config key "TLS"${sentence}`,
    );
    expect(refused(gateway({ TLS: { SDS: {} } })).message).to.contain(sentence);
    const why = refused(route({ ExtAuthz: { Enabled: true } }));
    expect(why.message).to.contain(`"Rules[0].Filters.ExtAuthz"${sentence}`);
    expect(why.pointer).to.equal('/Rules/0/Filters/ExtAuthz');
  });
});

describe('kinds: the check of values', () => {
  const wrong: [object, string][] = [
    [{ Protocol: 5 }, "'Protocol' expected type 'string', got 'float64'"],
    [{ MaxInboundConnections: '5' }, "cannot parse 'MaxInboundConnections' as int"],
    [{ MaxInboundConnections: 1.5 }, "cannot parse 'MaxInboundConnections' as int"],
    [{ Expose: { Checks: 1 } }, "cannot parse 'Expose.Checks' as bool"],
    [{ Expose: { Paths: {} } }, "'Expose.Paths' expected a list, got 'map'"],
    [{ Meta: { a: null } }, "'Meta[a]' expected type 'string', got 'null'"],
    [{ MeshGateway: [{ Mode: 'local' }] }, "'MeshGateway' expected a map, got 'slice'"],
  ];
  for (const [more, message] of wrong) {
    it(`refuses ${JSON.stringify(more)}`, () => {
      expect(refused(defaults(more)).message).to.contain(message);
    });
  }

  it('treats null as absent', () => {
    expect(accepted(defaults({ Protocol: null, Meta: null }))).to.equal(accepted(defaults({})));
  });

  it('refuses excessive nesting', () => {
    let config: unknown = 1;
    for (let i = 0; i < 5_000; i += 1) config = { a: config };
    const why = refused({ Kind: 'proxy-defaults', Config: config });
    expect(why.message).to.contain('nested deeper than 64 levels');
  });

  it('refuses numbers beyond the range of JSON', () => {
    const why = refused({ Kind: 'proxy-defaults', Config: { a: Number.POSITIVE_INFINITY } });
    expect(why.message).to.contain('number out of range');
  });

  it('refuses names that cannot be part of a key', () => {
    for (const [name, phrase] of [
      ['a\u0000b', 'no control characters'],
      ['a\ud800', 'valid Unicode text'],
    ] as const) {
      expect(refused(defaults({ Name: name })).message).to.contain(phrase);
    }
  });
});

describe('kinds: Namespace in a body', () => {
  it("is ignored if it equals the request's, and refused otherwise", () => {
    expect(accepted(defaults({ Namespace: 'default' }))).to.equal(accepted(defaults({})));
    expect(refused(defaults({ Namespace: 'team' })).message).to.contain('"Namespace"');
  });

  it('may be default for cluster-wide kinds, as their responses contain it', () => {
    const decoded = decodeEntry({ Kind: 'mesh', Namespace: 'default' }, { namespace: 'team' });
    expect(decoded.ok).to.equal(true);
  });

  it("is refused in a route unless it is the entry's own", () => {
    const router = (Namespace: string) => ({
      ...{ Kind: 'service-router', Name: 'web' },
      Routes: [{ Destination: { Service: 'a', Namespace } }],
    });
    expect(accepted(router('default'))).to.contain('"Namespace":"default"');
    expect(refused(router('team')).message).to.contain('stays within the namespace');
  });
});

describe('kinds: mesh and proxy-defaults exist once', () => {
  it('fill in an omitted name', () => {
    expect(accepted({ Kind: 'mesh' })).to.equal(accepted({ Kind: 'mesh', Name: 'mesh' }));
    expect(accepted({ Kind: 'mesh' })).to.contain('"Kind":"mesh","Name":"mesh"');
    expect(accepted({ Kind: 'proxy-defaults' })).to.contain('"Name":"global"');
  });

  it('accept no other name', () => {
    expect(refused({ Kind: 'mesh', Name: 'other' }).message).to.contain('only "mesh"');
    expect(refused({ Kind: 'proxy-defaults', Name: 'other' }).message).to.contain('only "global"');
  });
});

describe('kinds: keys that are data', () => {
  const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

  it('are kept in maps and free-form objects', () => {
    for (const key of hostile) {
      const meta = JSON.parse(`{"${key}":"x"}`);
      expect(accepted(defaults({ Meta: meta }))).to.contain(`"Meta":{"${key}":"x"}`);
      const config = { Kind: 'proxy-defaults', Config: meta };
      expect(accepted(config)).to.contain(`"Config":{"${key}":"x"}`);
    }
  });

  it('are not taken for subsets', () => {
    for (const key of hostile) {
      const why = refused({ Kind: 'service-resolver', Name: 'web', DefaultSubset: key });
      expect(why.message).to.contain('is not a valid subset');
    }
  });

  it('do not change any other object', () => {
    decode(JSON.parse('{"Kind":"proxy-defaults","Config":{"__proto__":{"polluted":1}}}'));
    decode(JSON.parse('{"Kind":"service-defaults","Name":"a","__proto__":{"polluted":1}}'));
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
});

const ONLY_NAMES: Partial<Record<Kind, string>> = {
  mesh: 'mesh',
  'proxy-defaults': 'global',
  'exported-services': 'default',
};
/** Bodies of a kind that are nearly right, made from its schema. */
function bodiesOf(kind: Kind): fc.Arbitrary<unknown> {
  const head = { Kind: kind, Name: ONLY_NAMES[kind] ?? 'web' };
  const schema = objectSchema(definitionOf(kind).type, { of: 'sent', at: '#' });
  return fromSchema(schema).map((body) => ({ ...(body as object), ...head }));
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema
function fromSchema(schema: any): fc.Arbitrary<unknown> {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.anyOf !== undefined) return fromSchema(schema.anyOf[0]);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (type === 'object' && schema.properties !== undefined) {
    const members = Object.entries<object>(schema.properties)
      .filter(([, one]) => !('$ref' in one))
      .map(([name, one]) => [name, fromSchema(one)]);
    return fc.record(Object.fromEntries(members), { requiredKeys: [] });
  }
  if (type === 'object') {
    const values = schema.additionalProperties
      ? fromSchema(schema.additionalProperties)
      : fc.jsonValue();
    return fc.dictionary(fc.string({ maxLength: 8 }), values, { maxKeys: 3 });
  }
  if (type === 'array') return fc.array(fromSchema(schema.items), { maxLength: 3 });
  if (type === 'integer') return fc.integer({ min: Math.max(schema.minimum, -10), max: 70_000 });
  if (type === 'number') return fc.double({ min: -10, max: 200, noNaN: true });
  if (type === 'boolean') return fc.boolean();
  if (type === 'null') return fc.constant(null);
  if (schema.format === 'date-time') return fc.constant('2024-01-02T03:04:05Z');
  if (Array.isArray(schema.type) && schema.type.includes('integer')) {
    return fc.oneof(fc.constantFrom('10s', '1h30m', '-1.5s', '0'), fc.maxSafeInteger());
  }
  return fc.oneof(fc.constantFrom('/x', 'web', '*', '10s', 'http'), fc.string({ maxLength: 12 }));
}

describe('kinds: any body', () => {
  it('is accepted or refused, and never throws', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.jsonValue({ maxDepth: 4 }), (kind, value) => {
        const body = typeof value === 'object' && value !== null ? { ...value, Kind: kind } : value;
        const decoded = decode(body);
        if (!decoded.ok) expect(decoded.refusal.code).to.equal('invalid');
      }),
      { numRuns: 500 },
    );
  });

  for (const kind of KINDS) {
    it(`of ${kind} keeps its normal form when it is read and written again`, () => {
      fc.assert(
        fc.property(bodiesOf(kind), (body) => {
          const stored = JSON.stringify(normalForm(kind, body));
          expect(JSON.stringify(normalForm(kind, JSON.parse(stored)))).to.equal(stored);
          decode(body);
        }),
        { numRuns: 60 },
      );
    });
  }
});

/** Checks field names and types but not the kind's own rules. */
function normalForm(kind: Kind, body: unknown): unknown {
  const report = new Report();
  const entry = definitionOf(kind).type.decode(body, report);
  expect(report.problems.map(({ message }) => message)).to.deep.equal([]);
  return entry;
}
