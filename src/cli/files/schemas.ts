/** Entries judged by the schemas of their kinds: those of the server, or of this program. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { pathOf } from '../../languages/pointers.js';
import { didYouMean } from '../../languages/suggest.js';
import type { Api } from '../client/http.js';
import { KINDS } from '../commands/entries.js';
import { CliError } from '../print/error.js';
import type { Written } from './documents.js';

/** What is wrong in a file. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
  readonly message: string;
}

interface Described {
  readonly description?: string;
}

/** Where schemas come from: the server, or this program if the server gives none. */
export interface SchemaSource {
  readonly api: Api;
  /**
   * Whether only those of this program are used, and the server is not asked; or never: what a
   * server without schemas takes is not for this program to judge.
   */
  readonly own?: 'only' | 'never' | undefined;
  /** Called for each kind whose schema the server lacks and this program has. */
  readonly onMissing?: (kind: string) => void;
}

/** The schemas of kinds, loaded when they are needed. */
export class Schemas {
  readonly #source: SchemaSource;
  readonly #known = new Map<string, Promise<ValidateFunction | undefined>>();

  constructor(source: SchemaSource) {
    this.#source = source;
  }

  async problemsOf(entry: Written): Promise<readonly Problem[]> {
    const { file } = entry;
    const key = Object.hasOwn(entry.value, 'Kind') ? 'Kind' : 'kind';
    const kind = entry.value[key];
    if (typeof kind !== 'string')
      return [{ file, ...entry.placeOf([]), pointer: '/Kind', message: 'Kind is missing' }];
    if (!this.#known.has(kind)) this.#known.set(kind, this.#compile(kind));
    const validate = await this.#known.get(kind);
    if (validate === undefined) {
      const message = `unknown kind "${kind}"${didYouMean(kind, KINDS)}`;
      return [{ file, ...entry.placeOf([key]), pointer: `/${key}`, message }];
    }
    if (validate(entry.value)) return [];
    const rules = new Map(ruleParts(validate.schema));
    const problems = (validate.errors ?? []).flatMap((error) => {
      const rule = rules.get(error.parentSchema!)?.replace(/\.$/, '');
      if (rule === undefined && !isOwn(error)) return [];
      return problemOf(entry, error, rule);
    });
    // Each part of a rule has an error of its own.
    const shown = problems.map(({ pointer, message }) => `${pointer} ${message}`);
    return problems.filter((_, at) => shown.indexOf(shown[at]!) === at);
  }

  async #compile(kind: string): Promise<ValidateFunction | undefined> {
    const { own, onMissing } = this.#source;
    let schema = own === 'only' ? undefined : await this.#asked(kind);
    if (schema === undefined && own !== 'never') {
      schema = await ownSchema(kind);
      if (schema !== undefined && own !== 'only') onMissing?.(kind);
    }
    if (schema === undefined) return undefined;
    const { Ajv2020 } = await import('ajv/dist/2020.js');
    return new Ajv2020({
      strict: false,
      allErrors: true,
      verbose: true,
      validateFormats: false,
    }).compile(schema);
  }

  /** Asks the server for a schema; undefined if it gives none. */
  async #asked(kind: string): Promise<object | boolean | undefined> {
    const { api, own } = this.#source;
    try {
      return (await api.get(schemaPath(kind))).json<object>();
    } catch (error) {
      const code = error instanceof CliError ? error.details.code : undefined;
      if (code === 'not_found') return undefined;
      if (code !== 'no_endpoint') throw error;
      // This schema takes anything.
      return own === 'never' ? true : undefined;
    }
  }
}

async function ownSchema(kind: string): Promise<object | undefined> {
  const { SCHEMAS } = await import('../../api/documents.js');
  const name = `config/${kind}`;
  return Object.hasOwn(SCHEMAS, name) ? (JSON.parse(SCHEMAS[name]!.text) as object) : undefined;
}

/** Returns the path of the schema of a kind. */
export const schemaPath = (kind: string): string => `/v1/schema/config/${encodeURIComponent(kind)}`;

/**
 * Whether an error says something new. The combining keywords only repeat what their parts say, and
 * the first alternative is the one that people should use.
 */
const isOwn = ({ keyword, schemaPath }: ErrorObject): boolean =>
  !/^(if|anyOf|oneOf|allOf)$/.test(keyword) && !/\/anyOf\/[1-9]/.test(schemaPath);

/** Maps each part of a rule between members, which schemas have in `allOf`, to its sentence. */
function ruleParts(schema: unknown, of?: string): readonly (readonly [object, string])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = of === undefined ? [] : [[schema, of] as const];
  const inner = Object.entries(schema).flatMap(([keyword, value]) =>
    keyword === 'allOf' && of === undefined
      ? (value as readonly Described[]).flatMap((part) => ruleParts(part, part.description))
      : ruleParts(value, of),
  );
  return [...own, ...inner];
}

/** Returns what is wrong with a value, in words. */
function wordsOf({ keyword, message, params }: ErrorObject): string {
  const { allowedValue, allowedValues } = params as {
    readonly allowedValue?: unknown;
    readonly allowedValues?: readonly unknown[];
  };
  if (keyword === 'const') return `must be ${JSON.stringify(allowedValue)}`;
  const known = allowedValues?.filter((value) => value !== null && value !== '');
  if (known === undefined) return message ?? keyword;
  return `must be one of ${known.map((value) => JSON.stringify(value)).join(', ')}`;
}

function problemOf(entry: Written, error: ErrorObject, rule?: string): Problem {
  const { file } = entry;
  const { instancePath, keyword, parentSchema } = error;
  const path = pathOf(instancePath);
  if (rule !== undefined)
    return { file, ...entry.placeOf(path), pointer: instancePath, message: rule };
  if (keyword !== 'additionalProperties' && keyword !== 'unevaluatedProperties')
    return { file, ...entry.placeOf(path), pointer: instancePath, message: wordsOf(error) };
  const params = error.params as { additionalProperty?: string; unevaluatedProperty?: string };
  const name = params.additionalProperty ?? params.unevaluatedProperty ?? '';
  const known = Object.keys(
    (parentSchema as { properties?: object } | undefined)?.properties ?? {},
  );
  return {
    file,
    ...entry.placeOf([...path, name]),
    pointer: `${instancePath}/${name}`,
    message: `unknown field "${name}"${didYouMean(name, known)}`,
  };
}
