/**
 * Decodes the bodies of all requests but those of config entries. Member names match exactly. The
 * first fault refuses the body, with its place and what was expected.
 */
import { reject } from '../../base/errors.js';
import type { Fault, Members, PathPart, Report, Type } from '../../languages/fields.js';
import { pointerOf } from '../../languages/pointers.js';
import { CASE_HINT, type Respelling, respelled } from '../../languages/respell.js';
import { didYouMean } from '../../languages/suggest.js';
import { EXPECTED, kindInWords } from '../../languages/words.js';

/**
 * Decodes a whole body, which may be null. `failure` begins the message (`Role decoding failed`).
 * Throws ApiError `invalid`.
 */
export const decodeBody = <S>(failure: string, body: unknown, type: Type<unknown, S>): S =>
  decodeValue(failure, withoutPartition(body ?? {}, failure), type);

/** Decodes a value. Throws ApiError `invalid`. */
export const decodeValue = <S>(failure: string, value: unknown, type: Type<unknown, S>): S =>
  type.decode(value, new BodyReport(failure));

/**
 * Returns a body with the names of its declaration in place of their other spellings. Throws
 * ApiError `invalid` for a member in two spellings.
 */
export const respelledBody = (
  failure: string,
  body: unknown,
  { description }: Type<unknown, unknown>,
  how: Omit<Respelling, 'twice'>,
): unknown =>
  respelled(body, description, {
    ...how,
    twice(path, ...names) {
      const report = new BodyReport(failure, path);
      const [one, other] = names.map((name) => JSON.stringify(cut(name)));
      return report.add(`the fields ${one} and ${other} are two spellings of one field`);
    },
  });

/** Drops the partition that a body names. The only one is `default`, which has no effect. */
function withoutPartition(body: unknown, failure: string): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'Partition')) return body;
  const { Partition, ...rest } = body as { readonly Partition: unknown };
  if (Partition === 'default' || Partition === '' || Partition === null) return rest;
  return new BodyReport(failure).within('Partition', (report) =>
    report.add('partitions are a feature that this server does not have, "default" apart'),
  );
}

/** Characters of a name that an error shows. */
const NAME_SHOWN_MAX = 80;
/** Shortens a name for an error, which says where to look but does not echo the body. */
const cut = (name: string): string =>
  name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;

/** Throws ApiError at the first problem. Places are JSON pointers (RFC 6901). */
class BodyReport implements Report {
  readonly #failure: string;
  readonly #path: PathPart[];

  constructor(failure: string, path: readonly PathPart[] = []) {
    this.#failure = failure;
    this.#path = [...path];
  }

  get depth(): number {
    return this.#path.length;
  }

  get place(): string {
    return pointerOf(
      this.#path.map((part) => cut(String(typeof part === 'object' ? part.entry : part))),
    );
  }

  within<T>(part: PathPart, body: (report: BodyReport) => T): T {
    this.#path.push(part);
    const result = body(this);
    this.#path.pop();
    return result;
  }

  fault(fault: Fault): never {
    return this.add(sentenceOf(fault));
  }

  add(sentence: string): never {
    const pointer = this.place;
    const where = pointer === '' ? '' : ` at ${pointer}`;
    return reject('invalid', `${this.#failure}: ${sentence}${where}`, { pointer });
  }

  members(
    input: Record<string, unknown>,
    { names }: Members,
    take: (name: string, key: string, value: unknown) => void,
  ): void {
    for (const name of Object.keys(input)) {
      if (!names.includes(name)) this.within(name, () => this.#unknown(name, names));
      const value = input[name];
      if (value !== null) take(name, name, value);
    }
  }

  #unknown(name: string, known: readonly string[]): never {
    // Letter case counts, so a name that differs in nothing else is the likeliest typo.
    const sameLetters = known.find((field) => field.toLowerCase() === name.toLowerCase());
    const hint =
      sameLetters === undefined
        ? didYouMean(name, known)
        : `; did you mean ${JSON.stringify(sameLetters)}?`;
    const pointer = this.place;
    const parent = pointer.slice(0, pointer.lastIndexOf('/'));
    const where = parent === '' ? '' : ` at ${parent}`;
    const what = `json: unknown field ${JSON.stringify(cut(name))}${where}${hint}`;
    const fields = `known fields here: ${known.join(', ')}`;
    return reject('invalid', `${this.#failure}: ${what}`, {
      pointer,
      hint: sameLetters === undefined ? fields : `${CASE_HINT}; ${fields}`,
    });
  }
}

function sentenceOf(fault: Fault): string {
  switch (fault.is) {
    case 'duration':
      return fault.message;
    case 'size': {
      const what = fault.of === 'items' ? 'list' : 'value';
      return `the ${what} has ${fault.count} ${fault.of}, at most ${fault.max} are allowed`;
    }
    case 'type': {
      const { expected, input } = fault;
      if (expected.is === 'time') return `expected ${EXPECTED.time}`;
      if (expected.is === 'whole' && typeof input === 'number') {
        return `expected a whole number from ${expected.min} to ${expected.max}`;
      }
      return `expected ${EXPECTED[expected.is]}, not ${kindInWords(input)}`;
    }
  }
}
