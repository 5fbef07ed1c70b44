/** Results on the standard output, in the form that the user wants. */

import type { Io } from '../io.js';
import { misused } from './error.js';
import {
  type Cell,
  type Field,
  type Head,
  renderFields,
  renderTable,
  type TableStyle,
} from './table.js';
import { hasControls, lines, oneLine } from './text.js';

/** The forms of a result. */
export const FORMATS = ['table', 'json', 'yaml', 'name'] as const;
/** A form of a result: for people, the API's JSON, the same as YAML, or Refs. */
export type Format = (typeof FORMATS)[number];

/** A column of a list. */
export interface Column<T> extends Head {
  readonly cell: (item: T) => Cell;
}

/** The ID of what has a name too. */
export const ID_COLUMN: Column<{ readonly ID: string }> = {
  head: 'ID',
  isWhole: true,
  isMinor: true,
  cell: ({ ID }) => ({ text: ID, paint: 'dim' }),
};

/** How objects of a type are shown to people, and what they are called. */
export interface Shape<T> {
  readonly columns: readonly Column<T>[];
  /** The lines of one object. Absent if it is never shown alone. */
  readonly fields?: (item: T) => readonly Field[];
  /** `policy/default/ops`: the type, the namespace where there is one, the name or id. */
  readonly ref: (item: T) => string;
  /** A text below the lines, such as the rules of a policy. */
  readonly text?: (item: T) => string;
}

/** Returns the format of a name. */
export function formatOf(name: string): Format {
  const format = FORMATS.find((one) => one === (name === 'pretty' ? 'table' : name));
  return format ?? misused(`--output: "${name}" is not one of ${FORMATS.join(', ')}`);
}

export interface PrintOptions {
  readonly format: Format;
  readonly colour: boolean;
  readonly quiet: boolean;
}

/** Prints results and notes. */
export class Printer {
  readonly format: Format;
  readonly #io: Io;
  readonly #colour: boolean;
  readonly #quiet: boolean;
  #inSeries = false;

  constructor(io: Io, { format, colour, quiet }: PrintOptions) {
    this.format = format;
    this.#io = io;
    this.#colour = colour;
    this.#quiet = quiet;
  }

  /** Whether results are what the API answered, as JSON or YAML. */
  get isForPrograms(): boolean {
    return this.format === 'json' || this.format === 'yaml';
  }

  get style(): TableStyle {
    const { isTerminal, columns } = this.#io.out;
    return { width: isTerminal ? columns : undefined, colour: this.#colour };
  }

  async list<T>(items: readonly T[], shape: Shape<T>, raw: unknown = items): Promise<void> {
    if (this.format === 'name') return this.refs(items.map(shape.ref));
    if (this.format !== 'table') return this.value(raw);
    this.table(shape.columns, items);
  }

  async item<T>(item: T, shape: Shape<T>, raw: unknown = item): Promise<void> {
    if (this.format === 'name') return this.refs([shape.ref(item)]);
    if (this.format !== 'table') return this.value(raw);
    this.fields(shape.fields?.(item) ?? []);
    const text = shape.text?.(item) ?? '';
    if (text !== '') this.text(['\n', text, text.endsWith('\n') ? '' : '\n']);
  }

  /** Prints that something was done to an object; `raw` is what the API answered. */
  async done<T>(what: string, ref: string, raw: T): Promise<void> {
    if (this.isForPrograms) return this.value(raw);
    this.refs([this.format === 'name' ? ref : `${what} ${ref}`]);
  }

  /** From now on each value is one of many: a line of JSON, or a YAML document. */
  startSeries(): void {
    this.#inSeries = true;
  }

  /** Prints a value as JSON or YAML; as JSON where the format is another. */
  async value(value: unknown): Promise<void> {
    if (this.format === 'yaml') {
      const text = await yamlOf(value, this.#io.out.isTerminal);
      return this.text([this.#inSeries ? '---\n' : '', text]);
    }
    const text = JSON.stringify(value, null, this.#inSeries ? 0 : 2);
    // In JSON, such characters can stand in strings only, where an escape means the same.
    this.text([this.#io.out.isTerminal ? lines(text) : text, '\n']);
  }

  /** Prints one of many events: its Ref, or all of it. */
  async event<E extends { readonly Ref: string }>(event: E): Promise<void> {
    if (this.format === 'name') this.refs([event.Ref]);
    else await this.value(event);
  }

  /** Prints Refs, or what was done to them: a line each. Programs get them as they are. */
  refs(refs: readonly string[]): void {
    const { isTerminal } = this.#io.out;
    this.text(refs.map((ref) => `${isTerminal ? oneLine(ref) : ref}\n`));
  }

  /** Prints a sentence, which may name what the server named. */
  say(sentence: string): void {
    this.text([`${oneLine(sentence)}\n`]);
  }

  /** Prints a table, or tells that there is nothing to print. */
  table<T>(columns: readonly Column<T>[], items: readonly T[]): void {
    const rows = items.map((item) => columns.map(({ cell }) => cell(item)));
    if (rows.length === 0) this.note('none found');
    else this.text([renderTable(columns, rows, this.style)]);
  }

  fields(fields: readonly Field[]): void {
    this.text([renderFields(fields, this.#colour)]);
  }

  /** Prints text as it is. */
  text(parts: readonly string[]): void {
    for (const part of parts) this.#io.out.write(part);
  }

  /** Tells something that is not the result. */
  note(text: string): void {
    if (!this.#quiet) this.#io.err.write(`conclave: ${lines(text)}\n`);
  }
}

/** Returns a value as YAML; for a terminal, with escapes in strings that need them. */
async function yamlOf(value: unknown, isForTerminal: boolean): Promise<string> {
  const { Document, visit } = await import('yaml');
  const document = new Document(value);
  if (!isForTerminal) return document.toString({ lineWidth: 0 });
  visit(document, {
    Scalar(_, node) {
      // Only double quotes know escapes.
      if (typeof node.value === 'string' && hasControls(node.value.replace(/[\n\t]/g, '')))
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return lines(document.toString({ lineWidth: 0 }));
}
