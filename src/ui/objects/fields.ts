/** Fields of objects: how each is edited, read from the object, and written into a body. */
import type { Link, Stored } from '../api/types.js';
import { TEXT } from '../texts.js';
import { type LineForm, linesOf, NODE_LINE, SERVICE_LINE, TEMPLATE_LINE } from './lines.js';

/** An object as its form holds it: every field as text. */
export type Form = Readonly<Record<string, string>>;

/** A body to send. */
export type Body = Record<string, unknown>;

/** How a field is edited. */
export type Control =
  | { readonly type: 'text' | 'area' | 'lines' | 'check' | 'rules' | 'json' }
  | { readonly type: 'select'; readonly options: readonly string[] }
  | { readonly type: 'links'; readonly list: string; readonly namespace?: string }
  | { readonly type: 'name'; readonly list: string };

/** A field of an object. */
export interface Field {
  /** The member of the object. */
  readonly key: string;
  readonly label: string;
  readonly help?: string;
  readonly control: Control;
  /** What a new object has. */
  readonly initial: string;
  /** Set if it cannot be changed once the object exists. */
  readonly isFixed?: true;
  /** Set if only a new object has it. */
  readonly isOfNew?: true;
  /** Set if it is the whole body but for these members. */
  readonly apart?: ReadonlySet<string>;
  read(object: Stored): string;
  /** Writes the field into a body. Throws `FieldFault`. */
  write(body: Body, text: string): void;
}

/** A field that cannot be sent as it is. */
export class FieldFault extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

type More = Partial<Pick<Field, 'help' | 'initial' | 'isFixed' | 'isOfNew'>>;

/** A text. */
export const text = (
  key: string,
  label: string,
  control: Control = { type: 'text' },
  more: More = {},
): Field => ({
  key,
  label,
  control,
  initial: '',
  ...more,
  read: (object) => String(object[key] ?? ''),
  write(body, value) {
    body[key] = value;
  },
});

/** Yes or no. */
export const check = (key: string, label: string, more: More = {}): Field => ({
  key,
  label,
  control: { type: 'check' },
  initial: 'false',
  ...more,
  read: (object) => String(object[key] === true),
  write(body, value) {
    body[key] = value === 'true';
  },
});

/** Links to policies or roles by name; those that are there keep their ID. */
export const links = (
  key: string,
  label: string,
  list: string,
  given: { readonly namespace?: string; readonly within?: string } = {},
): Field => {
  const { within } = given;
  const of = (object: Readonly<Record<string, unknown>>): readonly Link[] => {
    const holder = within === undefined ? object : (object[within] ?? {});
    return ((holder as Record<string, unknown>)[key] ?? []) as readonly Link[];
  };
  return {
    key,
    label,
    control: { type: 'links', list, ...(given.namespace && { namespace: given.namespace }) },
    initial: '',
    read: (object) =>
      of(object)
        .map(({ Name, ID }) => Name ?? ID ?? '')
        .join('\n'),
    write(body, value) {
      const known = of(body);
      const next = linesOf(value).map((name): Link => {
        const link = known.find(({ Name, ID }) => Name === name || ID === name);
        return link?.ID === undefined ? { Name: name } : { ID: link.ID };
      });
      if (within === undefined) body[key] = next;
      else body[within] = { ...(body[within] as Body | undefined), [key]: next };
    },
  };
};

/** Items with a line each. */
const lines = <T>(key: string, label: string, help: string, form: LineForm<T>): Field => ({
  key,
  label,
  help,
  control: { type: 'lines' },
  initial: '',
  read: (object) => ((object[key] ?? []) as readonly T[]).map(form.write).join('\n'),
  write(body, value) {
    // A line holds less than an item may: one that was not touched is sent as it is stored.
    const stored = [...((body[key] ?? []) as readonly T[])];
    body[key] = linesOf(value).map((line) => {
      const at = stored.findIndex((item) => form.write(item).trim() === line);
      if (at >= 0) return stored.splice(at, 1)[0]!;
      const item = form.read(line);
      const isWhole = withoutBlanks(form.write(item)) === withoutBlanks(line);
      if (!isWhole) throw new FieldFault(key, TEXT.form.badLine(line));
      return item;
    });
  },
});

const withoutBlanks = (line: string): string => line.replaceAll(/\s/g, '');

/** What roles and tokens grant by themselves. */
export const GRANTS: readonly Field[] = [
  lines('ServiceIdentities', TEXT.field.services, TEXT.help.services, SERVICE_LINE),
  lines('NodeIdentities', TEXT.field.nodes, TEXT.help.nodes, NODE_LINE),
  lines('TemplatedPolicies', TEXT.field.templates, TEXT.help.templates, TEMPLATE_LINE),
];

/** Returns a JSON text as a value. Throws `FieldFault`. */
export function parsed(key: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new FieldFault(key, TEXT.form.noJson((error as Error).message));
  }
}

/** Part of an object as JSON. Without text the member is left out. */
export const json = (key: string, label: string, more: More = {}): Field => ({
  key,
  label,
  control: { type: 'json' },
  initial: '',
  ...more,
  read: (object) => (object[key] === undefined ? '' : JSON.stringify(object[key], null, 2)),
  write(body, value) {
    if (value.trim() === '') delete body[key];
    else body[key] = parsed(key, value);
  },
});
