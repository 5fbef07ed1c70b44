/** Entries judged by the schemas that the server gives. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { closest, distance } from 'fastest-levenshtein';
import type { Written } from './documents.js';
import { Fault } from './fault.js';
import type { Api } from './http.js';

/** What is wrong in a file. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** JSON pointer to the value. */
  readonly pointer: string;
  readonly message: string;
}

/** The largest edit distance at which another field is suggested. */
const NEAR_MAX = 3;

/** The schemas of kinds, asked of the server when they are needed. */
export class Schemas {
  readonly #api: Api;
  readonly #known = new Map<string, Promise<ValidateFunction | undefined>>();

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Returns what is wrong with an entry; undefined if the server gives no schema for its kind, or
   * none at all.
   */
  async problemsOf(file: string, entry: Written): Promise<readonly Problem[] | undefined> {
    const kind = entry.value['Kind'] ?? entry.value['kind'];
    if (typeof kind !== 'string')
      return [{ file, ...entry.placeOf([]), pointer: '/Kind', message: 'Kind is missing' }];
    if (!this.#known.has(kind)) this.#known.set(kind, this.#compile(kind));
    const validate = await this.#known.get(kind);
    if (validate === undefined) return undefined;
    if (validate(entry.value)) return [];
    return (validate.errors ?? []).filter(isOwn).map((error) => problemOf(file, entry, error));
  }

  async #compile(kind: string): Promise<ValidateFunction | undefined> {
    let schema: object;
    try {
      schema = (await this.#api.get(schemaPath(kind))).json<object>();
    } catch (error) {
      const isUnknown =
        error instanceof Fault && /no_endpoint|not_found/.test(error.details.code ?? '');
      if (isUnknown) return undefined;
      throw error;
    }
    const { Ajv2020 } = await import('ajv/dist/2020.js');
    return new Ajv2020({
      strict: false,
      allErrors: true,
      verbose: true,
      validateFormats: false,
    }).compile(schema);
  }
}

/** Returns the path of the schema of a kind. */
export const schemaPath = (kind: string): string => `/v1/schema/config/${encodeURIComponent(kind)}`;

/** The combining keywords only repeat what their parts say. */
const isOwn = ({ keyword }: ErrorObject): boolean => !/^(if|anyOf|oneOf|allOf)$/.test(keyword);

function problemOf(file: string, entry: Written, error: ErrorObject): Problem {
  const { instancePath, keyword, message, parentSchema } = error;
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword !== 'additionalProperties' && keyword !== 'unevaluatedProperties')
    return { file, ...entry.placeOf(path), pointer: instancePath, message: message ?? keyword };
  const params = error.params as { additionalProperty?: string; unevaluatedProperty?: string };
  const name = params.additionalProperty ?? params.unevaluatedProperty ?? '';
  const known = Object.keys(
    (parentSchema as { properties?: object } | undefined)?.properties ?? {},
  );
  const near = known.length === 0 ? undefined : closest(name, known);
  const hint =
    near !== undefined && distance(name, near) <= NEAR_MAX ? `; did you mean "${near}"?` : '';
  return {
    file,
    ...entry.placeOf([...path, name]),
    pointer: `${instancePath}/${name}`,
    message: `unknown field "${name}"${hint}`,
  };
}
