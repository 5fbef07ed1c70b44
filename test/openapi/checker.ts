/** Checks that requests and answers are as the OpenAPI document says. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Tree = { readonly [key: string]: unknown };

/** A request and its answer. */
export interface Exchange {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  /** The body of the request as text. */
  readonly payload: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Place {
  readonly pattern: RegExp;
  readonly path: string;
  readonly item: Tree;
}

const escaped = (step: string): string =>
  encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Checks exchanges against one document. */
export class Checker {
  readonly #document: Tree;
  readonly #places: readonly Place[];
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #compiled = new Map<string, ValidateFunction>();
  /** The operations that were seen, by operationId. */
  readonly seen = new Set<string>();

  constructor(document: Tree) {
    this.#document = document;
    this.#ajv.addSchema({ ...document, $id: 'doc:/api' });
    this.#places = Object.entries(document['paths'] as Tree)
      .map(([path, item]) => ({ path, item: item as Tree, pattern: patternOf(path, item as Tree) }))
      .sort((a, b) => rank(a.path) - rank(b.path));
  }

  /** Returns what is not as the document says. */
  differences(exchange: Exchange): string[] {
    const { method, status } = exchange;
    if (method === 'HEAD' || method === 'OPTIONS') return [];
    const [path = ''] = exchange.path.split('?');
    const sent = decodeURIComponent(path);
    const verb = method.toLowerCase();
    const places = this.#places.filter(({ pattern }) => pattern.test(sent));
    const place = places.find(({ item }) => verb in item);
    const isRefused = places.some(({ item }) => !(verb in item)) && status === 405;
    if (place === undefined || isRefused) {
      const expected = places.length === 0 ? [400, 404] : [404, 405];
      return expected.includes(status) ? [] : [`${method} ${path} is not declared`];
    }
    const operation = place.item[verb] as Tree;
    this.seen.add(operation['operationId'] as string);
    const at = ['paths', place.path, verb];
    return [
      ...this.#answer(exchange, operation, at),
      ...this.#request(exchange, operation, at),
    ].map((found) => `${String(operation['operationId'])} (${method} ${exchange.path}): ${found}`);
  }

  *#request({ payload, status }: Exchange, operation: Tree, at: string[]): Iterable<string> {
    const body = operation['requestBody'] as Tree | undefined;
    if (body === undefined || status >= 300) return;
    if (payload === undefined || payload.trim() === '') {
      if (body['required'] === true) yield 'accepted without a body';
      return;
    }
    const media = Object.keys(body['content'] as Tree)[0]!;
    if (media !== 'application/json') return;
    const value = json(payload);
    // An absent body and null are the same.
    if (value === null) return;
    const place = [...at, 'requestBody', 'content', media, 'schema'];
    for (const why of this.#faults(place, value)) yield `accepted the body ${payload}: ${why}`;
  }

  *#answer(exchange: Exchange, operation: Tree, at: string[]): Iterable<string> {
    const { status, text, headers } = exchange;
    const declared = (operation['responses'] as Tree)[status] as Tree | undefined;
    if (declared === undefined) {
      yield `status ${status} is not declared: ${text.slice(0, 200)}`;
      return;
    }
    const [response, place] = this.#resolved(declared, [...at, 'responses', String(status)]);
    for (const [name, header] of Object.entries((response['headers'] ?? {}) as Tree)) {
      const [{ required, schema }, where] = this.#resolved(header as Tree, [
        ...[...place, 'headers', name],
      ]);
      const value = headers[name.toLowerCase()];
      if (value === undefined && required === true) yield `the header ${name} is missing`;
      if (value === undefined || schema === undefined) continue;
      for (const why of this.#faults([...where, 'schema'], value)) yield `header ${name}: ${why}`;
    }
    const content = (response['content'] ?? {}) as Tree;
    const media = String(headers['content-type'] ?? '').split(';', 1)[0]!;
    if (Object.keys(content).length === 0) {
      if (text !== '') yield `${status} has a body: ${text.slice(0, 200)}`;
      return;
    }
    if (!(media in content)) {
      yield `${status} is sent as ${media}, not as ${Object.keys(content).join(' or ')}`;
      return;
    }
    if ((content[media] as Tree)['schema'] === undefined) return;
    const value = /json$/.test(media) ? json(text) : text;
    const where = [...place, 'content', media, 'schema'];
    for (const why of this.#faults(where, value)) yield `${status} ${text.slice(0, 300)}: ${why}`;
  }

  /** Follows a reference to a component. */
  #resolved(value: Tree, at: string[]): [value: Tree, at: string[]] {
    const ref = value['$ref'] as string | undefined;
    if (ref === undefined) return [value, at];
    const steps = ref.slice(2).split('/');
    return [steps.reduce<Tree>((tree, step) => tree[step] as Tree, this.#document), steps];
  }

  *#faults(at: readonly string[], value: unknown): Iterable<string> {
    const pointer = `doc:/api#/${at.map(escaped).join('/')}`;
    let check = this.#compiled.get(pointer);
    if (check === undefined) {
      check = this.#ajv.compile({ $ref: pointer });
      this.#compiled.set(pointer, check);
    }
    if (!check(value)) yield this.#ajv.errorsText(check.errors);
  }
}

/** Longer paths come first, and of these the ones with fewer parameters: as the server does. */
const rank = (path: string): number =>
  (path.match(/\{/g)?.length ?? 0) - 10 * path.split('/').length;

function patternOf(path: string, item: Tree): RegExp {
  const operations = Object.values(item) as { readonly parameters?: readonly Tree[] }[];
  const [{ parameters = [] } = {}] = operations;
  const slashes = new Set(
    parameters.filter((one) => one['x-takes-slashes'] === true).map((one) => one['name']),
  );
  const source = path.replace(/\{([\w-]+)\}/g, (_, name) =>
    slashes.has(name) ? '(.*)' : '([^/]*)',
  );
  return new RegExp(`^${source.replaceAll('.json', '\\.json')}$`, 's');
}
