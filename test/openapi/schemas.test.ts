/** The JSON Schemas of bodies: what they say, accept and refuse. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { BODIES, bodySchemas } from '../../src/api/document/body-schemas.js';
import { answeredEntry, sentEntry } from '../../src/api/document/kind-schemas.js';
import type { JsonSchema } from '../../src/api/document/text-schema.js';
import { ApiError } from '../../src/base/errors.js';
import { definitionOf } from '../../src/kinds/definitions.js';
import { KINDS, type Kind } from '../../src/kinds/types.js';
import { bodyOf, type Fields } from '../../src/languages/fields.js';
import { decodeBody } from '../../src/service/common/decode.js';
import { ConfigFault } from '../../src/service/login/config-reader.js';
import { readJwtConfig } from '../../src/service/login/jwt-config.js';
import { readKubernetesConfig } from '../../src/service/login/kubernetes.js';
import { WRITES } from '../hostile/endpoints.js';
import { mutated } from '../hostile/mutate.js';
import { decodeEntry } from '../kinds/decode-entry.js';

interface Row {
  readonly name: string;
  readonly input: { readonly Kind?: Kind; readonly kind?: Kind };
  readonly accepted: boolean;
  readonly readBack: { readonly Kind: Kind } | null;
}
const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as Row[];
/** Rows that break a rule which no schema says, by the reason why. */
const beyond = JSON.parse(readFileSync('test/openapi/beyond-schema.json', 'utf8')) as {
  readonly why: string;
  readonly rows: readonly string[];
}[];

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, verbose: true });
const checks = new Map(KINDS.map((kind) => [kind, ajv.compile(sentEntry(kind))]));
const checkOf = ({ input }: Row) => checks.get((input.Kind ?? input.kind)!)!;
const SCHEMAS = bodySchemas();

/** Yields the fields of a declaration at every level, with their places. */
function* fieldsIn(fields: Fields, at: string): Iterable<[string, string]> {
  for (const [name, { description: says, type }] of Object.entries(fields)) {
    const place = `${at}.${name}`;
    yield [place, says];
    let { description } = type;
    while (description.is === 'list' || description.is === 'map') {
      ({ description } = description.of);
    }
    if (description.is === 'object') yield* fieldsIn(description.fields, place);
  }
}

describe('openapi: what schemas say', () => {
  const declared: [string, Fields][] = [
    ...KINDS.map((kind): [string, Fields] => [kind, definitionOf(kind).type.fields]),
    ...Object.entries(BODIES).map(([name, { fields }]): [string, Fields] => [name, fields]),
  ];

  it('every field of every kind and object has a sentence', () => {
    const found = declared.flatMap(([name, fields]) => [...fieldsIn(fields, name)]);
    expect(found.length).to.be.greaterThan(400);
    for (const [place, says] of found) {
      expect(says, place).to.match(/^[A-Z`].{8,110}\.$/);
    }
  });

  it('every schema is one of the dialect that it names, with id, title and description', () => {
    expect(Object.keys(SCHEMAS)).to.include.members([
      ...['config/mesh', 'role', 'token', 'problem', 'history-configuration'],
      ...['set', 'undo', 'tokens-revoke', 'tokens-import'],
    ]);
    for (const [name, schema] of Object.entries(SCHEMAS)) {
      expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`).to.equal(true);
      expect(schema['$id']).to.equal(`/v1/schema/${name}`);
      expect(schema['title'], name).to.match(/^[a-z-]+$/);
      expect(schema['description'], name).to.match(/\.$/);
    }
  });

  it('say values, defaults and limits', () => {
    const member = (name: string, ...path: string[]): JsonSchema =>
      path.reduce<JsonSchema>(
        (schema, step) => schema[step] as JsonSchema,
        SCHEMAS[name]!['properties'] as JsonSchema,
      );
    expect(member('config/jwt-provider', 'ClockSkewSeconds')).to.include({ default: 30 });
    expect(member('config/service-defaults', 'MutualTLSMode')['enum']).to.deep.equal([
      ...['', 'strict', 'permissive'],
      null,
    ]);
    const balance = member('config/service-defaults', 'Expose', 'properties', 'Checks');
    expect(balance).to.deep.equal({
      description: 'Whether the paths of HTTP checks are exposed.',
      type: ['boolean', 'null'],
      default: false,
    });
    expect(member('config/api-gateway', 'Listeners', 'items', 'properties', 'Port')).to.include({
      minimum: 1,
      maximum: 65_535,
    });
    expect(member('role', 'Hash')).to.deep.equal({
      description: 'A hash of the content.',
      readOnly: true,
    });
  });
});

describe('openapi: the table of recorded entries', () => {
  it('schemas accept what the server accepts', () => {
    for (const row of rows.filter(({ accepted }) => accepted)) {
      const check = checkOf(row);
      expect(check(row.input), `${row.name}: ${ajv.errorsText(check.errors)}`).to.equal(true);
    }
  });

  it('schemas refuse what the server refuses, but for rules that they cannot say', () => {
    const passing = rows.filter((row) => !row.accepted && checkOf(row)(row.input));
    const expected = beyond.flatMap((group) => group.rows);
    expect(passing.map(({ name }) => name).sort()).to.deep.equal(expected.sort());
    for (const { why } of beyond) expect(why).to.match(/^[A-Z].{30,}\.$/);
  });

  it('schemas of answers match what is read back', () => {
    for (const { name, readBack } of rows) {
      if (readBack === null) continue;
      const check = ajv.compile(answeredEntry(readBack.Kind));
      const answer = { Name: 'mesh', CreateIndex: 7, ModifyIndex: 7, ...readBack };
      expect(check(answer), `${name}: ${ajv.errorsText(check.errors)}`).to.equal(true);
    }
  });
});

/**
 * Whether a schema refuses a value for its type or for an unknown member. Null stands for an absent
 * one, which the decoder leaves to the use case.
 */
const isOfForm = ({ data, keyword }: ErrorObject): boolean =>
  keyword === 'additionalProperties' || (keyword === 'type' && data !== null);

describe('openapi: any body', () => {
  const accepted = rows.filter((row) => row.accepted);

  it('of an entry that the server accepts conforms to the schema of its kind', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...accepted).chain(({ input }) => mutated(input)),
        (body) => {
          const decoded = decodeEntry(body, { namespace: 'default' });
          if (!decoded.ok) return;
          const check = checks.get(decoded.entry.Kind)!;
          // The server ignores "kind" beside "Kind".
          const { kind, ...rest } = body as Record<string, unknown>;
          expect(check('Kind' in rest ? rest : body), ajv.errorsText(check.errors)).to.equal(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  const named = new Map(WRITES.map(({ path, bodies }) => [path.slice('/v1/acl/'.length), bodies]));
  for (const name of ['policy', 'role', 'token', 'auth-method', 'binding-rule', 'login']) {
    const { fields } = BODIES[name]!;
    const check = ajv.compile({ ...SCHEMAS[name], $id: `test/${name}` });

    it(`of ${name} has the form that the server takes, or neither takes it`, () => {
      fc.assert(
        fc.property(fc.constantFrom(...named.get(name)!).chain(mutated), (body) => {
          if (typeof body !== 'object' || body === null) return;
          const refusal = refusalOf(body, fields);
          const errors = check(body) ? [] : check.errors!;
          if (refusal === undefined) {
            expect(errors.filter(isOfForm), ajv.errorsText(errors)).to.deep.equal([]);
          } else if (
            /unknown field|expected|invalid keys|exactly one|required|as int/.test(refusal)
          ) {
            expect(errors, `${refusal}: ${JSON.stringify(body)}`).not.to.deep.equal([]);
          }
        }),
        { numRuns: 500 },
      );
    });
  }
});

describe('openapi: the Config of an auth method', () => {
  const check = ajv.compile({ ...SCHEMAS['auth-method'], $id: 'test/config' });
  const url = 'https://issuer.example/keys';
  const cluster = { Host: 'https://10.0.0.1', CACert: 'PEM', ServiceAccountJWT: 'a.b.c' };
  const { CACert: _, ...withoutCa } = cluster;
  for (const [Type, Config, isTaken] of [
    ['jwt', { JWKSURL: url }, true],
    ['jwt', { jwksurl: url, BOUNDAUDIENCES: 'one', ClaimMappings: { sub: 'name' } }, true],
    ['jwt', { JWKSURL: url, BoundAudiences: ['a', 'b'], JWTSupportedAlgs: ['ES256'] }, true],
    ['jwt', { JWKSURL: url, ExpirationLeeway: -1, BoundIssuer: null }, true],
    ['jwt', undefined, false],
    ['jwt', {}, false],
    ['jwt', { JWKSURL: url, oidcDiscoveryURL: url }, false],
    ['jwt', { JWKSURL: url, OIDCDiscoveryCACert: 'PEM' }, false],
    ['jwt', { JWKSURL: url, JWTSupportedAlgs: 'HS256' }, false],
    ['jwt', { JWKSURL: url, ClaimMappings: { sub: '' } }, false],
    ['jwt', { JWKSURL: url, ClockSkewLeeway: '1m' }, false],
    ['jwt', { JWKSURL: url, Bogus: 1 }, false],
    ['jwt', cluster, false],
    ['kubernetes', cluster, true],
    ['kubernetes', { ...withoutCa, cacert: 'PEM' }, true],
    ['kubernetes', withoutCa, false],
    ['kubernetes', { ...cluster, JWKSURL: url }, false],
  ] as const) {
    it(`${JSON.stringify(Config)} is ${isTaken ? 'taken' : 'refused'} for ${Type}`, () => {
      expect(check({ Name: 'm', Type, Config }), ajv.errorsText(check.errors)).to.equal(isTaken);
      const read = Type === 'jwt' ? readJwtConfig : readKubernetesConfig;
      const isForm = isTaken && Type === 'jwt';
      if (isForm) expect(() => read(Config)).not.to.throw();
      if (!isTaken) expect(() => read(Config)).to.throw(ConfigFault);
    });
  }

  it('is any object where the body leaves the type to the stored method', () => {
    expect(check({ Name: 'm', Config: { JWKSURL: url } })).to.equal(true);
  });
});

/** Why a body cannot be decoded; undefined if it can. */
function refusalOf(body: unknown, fields: Fields): string | undefined {
  try {
    const { Type, Config } = decodeBody('Failed', body, bodyOf(fields)) as Record<string, unknown>;
    if (Type === 'jwt') readJwtConfig(Config);
    if (Type === 'kubernetes') readKubernetesConfig(Config);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConfigFault) return error.message;
    throw error;
  }
}
