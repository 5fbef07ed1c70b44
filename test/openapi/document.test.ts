/** The OpenAPI document: its form, and that it has the routes of the server and no others. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { OPENAPI } from '../../src/api/documents.js';
import { allRoutes, type RouteParts } from '../../src/http/routes/routes.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly 'x-level'?: number;
}
type Item = Readonly<Record<string, Operation>>;
type Tree = Readonly<Record<string, unknown>>;

const document = JSON.parse(OPENAPI.text) as {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Item>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Tree>>>>;
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Parts of which making the routes reads nothing. */
const nothing: object = new Proxy({}, { get: () => nothing });
const routes = allRoutes(nothing as RouteParts);
const METHODS = ['GET', 'PUT', 'PATCH', 'POST', 'DELETE'] as const;

describe('openapi: the document', () => {
  it('is valid by the schema of OpenAPI 3.1', () => {
    const official = JSON.parse(readFileSync('test/openapi/openapi-3.1.json', 'utf8')) as Tree;
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    const check = ajv.compile(official);
    expect(check(document), ajv.errorsText(check.errors)).to.equal(true);
    expect(check({ ...document, paths: { nowhere: 1 } })).to.equal(false);
  });

  it('has schemas of its dialect, and references to what it has', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ ...document, $id: 'doc:/api' });
    for (const name of Object.keys(document.components['schemas']!))
      expect(ajv.validateSchema(document.components['schemas']![name]!), name).to.equal(true);
    const known = (ref: string): unknown =>
      ref
        .slice(2)
        .split('/')
        .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
        .reduce<unknown>((tree, step) => (tree as Tree | undefined)?.[step], document);
    const refs = [...OPENAPI.text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!);
    expect(refs.length).to.be.greaterThan(1000);
    for (const ref of new Set(refs)) expect(known(ref), ref).not.to.equal(undefined);
    for (const [group, all] of Object.entries(document.components))
      for (const name of Object.keys(all))
        if (group !== 'securitySchemes')
          expect(refs, `${group}/${name} is used`).to.include(`#/components/${group}/${name}`);
  });

  it('has decisions under a tag of their own', () => {
    const paths = /^\/(?:access\/|\.well-known\/authzen|v1\/acl\/token\/[^/]+\/rights)/;
    const decisions = operations.filter(({ path }) => paths.test(path));
    expect(decisions).to.have.lengthOf(8);
    for (const { path, operation } of decisions)
      expect(operation.tags, path).to.deep.equal(['Decisions']);
  });

  it('has the paths and methods of the server, and no others', () => {
    const served = routes.flatMap((route) =>
      METHODS.filter((method) => route[method] !== undefined).map(
        (method) => `${method} ${route.path.replace(/:(\w+)/g, '{$1}')}`,
      ),
    );
    const declared = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(declared.sort()).to.deep.equal(served.sort());
  });

  it('has the index to wait on in the 404 of each read that has one', () => {
    type Response = { readonly headers?: object };
    const indexed = operations.flatMap(({ operation: { operationId, responses } }) => {
      const [read, missing] = [responses['200'], responses['404']] as Response[];
      const isIndexed = Object.hasOwn(read?.headers ?? {}, 'X-Consul-Index');
      return isIndexed && missing !== undefined ? [[operationId, missing.headers] as const] : [];
    });
    expect(indexed.map(([name]) => name)).to.include('readPolicy');
    for (const [name, headers] of indexed)
      expect(headers, name).to.include.keys('X-Consul-Index', 'X-Consul-LastContact');
  });

  it('has the header by which a stream of events resumes', () => {
    const { parameters } = document.paths['/v1/events']!['get']!;
    const id = 'Last-Event-ID';
    expect(parameters).to.deep.include({ $ref: `#/components/parameters/${id}` });
    expect(document.components['parameters']![id]).to.include({ name: id, in: 'header' });
    const others = operations.filter(({ path }) => path !== '/v1/events');
    expect(JSON.stringify(others)).to.not.include(id);
  });

  it('tells which level of the cluster an operation needs', () => {
    const levels = new Map(
      operations.map(({ operation }) => [operation.operationId, operation['x-level']]),
    );
    for (const id of ['applySet', 'undo', 'readChanges', 'importTokens', 'patchPolicy'])
      expect(levels.get(id), id).to.equal(3);
    for (const id of ['planSet', 'readPolicy', 'writeAclConfiguration']) {
      expect(levels.has(id), id).to.equal(true);
      expect(levels.get(id), id).to.equal(undefined);
    }
  });

  it('has operations with unique names, known tags, an answer and the errors of all', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).to.equal(names.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation, path } of operations) {
      expect(operation.operationId).to.match(/^[a-z][A-Za-z]+$/);
      expect(tags).to.include.members([...operation.tags]);
      expect(operation.responses, path).to.include.keys('400', '403', '429', '500');
      const parameters = operation.parameters.flatMap(({ name }) => name ?? []);
      expect(path.match(/\{\w+\}/g) ?? []).to.deep.equal(parameters.map((name) => `{${name}}`));
    }
  });
});
