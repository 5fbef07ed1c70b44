/** Writes the operations of the API as functions of TypeScript. */
import type { Member, Model, Named, Operation, Query, Type } from './model.js';

const HEAD = `/** Written by npm run clients. The operations of the API and their types. */
import type { Answer, CallOptions, Caller } from './calls.js';

/** What is sent of an object: members may be absent, or null to be as if they were. */
export type Sent<T> = T extends readonly (infer U)[]
  ? readonly Sent<U>[]
  : T extends object
    ? { readonly [K in keyof T]?: Sent<T[K]> | null }
    : T;
`;

function typeText(type: Type, isBody = false): string {
  switch (type.kind) {
    case 'text':
    case 'plain':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'any':
      return 'unknown';
    case 'stream':
      return isBody ? 'ReadableStream<Uint8Array> | Uint8Array' : 'ReadableStream<Uint8Array>';
    case 'list': {
      const of = typeText(type.of, isBody);
      return `readonly ${of.includes(' ') ? `(${of})` : of}[]`;
    }
    case 'map':
      return `Readonly<Record<string, ${typeText(type.of, isBody)}>>`;
    case 'union':
      return unionText(type.of.map((one) => typeText(one, isBody)));
    case 'struct':
      return isBody && !type.name.endsWith('Body') ? `Sent<${type.name}>` : type.name;
  }
}

/** Whatever else it may be, `unknown` is all that is known. */
const unionText = (texts: readonly string[]): string =>
  texts.includes('unknown') ? 'unknown' : [...new Set(texts)].join(' | ');

const said = (description: string, indent = ''): string =>
  description ? `${indent}/** ${description} */\n` : '';
const key = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);

function memberText(member: Member, isBody: boolean): string {
  const { name, type, description, isRequired, isNullable } = member;
  const of = `${typeText(type, isBody)}${isNullable && type.kind !== 'any' ? ' | null' : ''}`;
  return `${said(description, '  ')}  readonly ${key(name)}${isRequired ? '' : '?'}: ${of};\n`;
}

function namedText({ name, description, members, type }: Named): string {
  if (members === undefined)
    return `${said(description)}export type ${name} = ${typeText(type!)};\n`;
  const all = members.map((one) => memberText(one, name.endsWith('Body')));
  return `${said(description)}export interface ${name} {\n${all.join('')}}\n`;
}

function queryText({ name, base, members }: Query): string {
  const more = base === undefined ? '' : ` extends ${base}`;
  const all = members.map((one) => memberText(one, false));
  return `/** Parameters of a query. */\nexport interface ${name}${more} {\n${all.join('')}}\n`;
}

/** How a body is read that is no JSON. */
const ANSWERS: Readonly<Record<string, string>> = {
  plain: ", answer: 'text'",
  stream: ", answer: 'stream'",
};

/** Reads may be stale or not, and so have parameters of their own. */
const isRead = ({ name, base = '' }: Query): boolean =>
  [name, base].some((one) => /^(?:Read|Blocking)Query$/.test(one));

function operationText({
  name,
  description,
  method,
  path,
  parameters,
  query,
  body,
  answer,
}: Operation) {
  const own = parameters.map((one) => `${key(one.name)}: string`);
  if (body !== undefined) own.push(`body: ${typeText(body.type, true)}`);
  const given = own.length === 0 ? query.name : `{ ${own.join('; ')} } & ${query.name}`;
  const absent = own.length === 0 ? ' = {}' : '';
  const isPlain = body === undefined || body.contentType === 'application/json';
  const contentType = isPlain ? '' : `, type: '${body.contentType}'`;
  const kind = ANSWERS[answer.kind] ?? '';
  const read = method !== 'GET' && isRead(query) ? ', isRead: true' : '';
  const asked = `{ method: '${method}', path: '${path}'${contentType}${kind}${read} }`;
  const of = typeText(answer);
  const takes = `(to: Caller, given: ${given}${absent}, options?: CallOptions)`;
  const head = `${said(description)}export const ${name} = ${takes}: Promise<Answer<${of}>> =>`;
  return `${head}\n  to.call<${of}>(${asked}, given, options);\n`;
}

/** Returns the text of the module. */
export function typescriptText({ named, queries, operations }: Model): string {
  return [
    HEAD,
    ...named.map(namedText),
    ...queries.map(queryText),
    ...operations.map(operationText),
  ].join('\n');
}
