/** Fields of objects: how each is edited, read from the object, and written into a body. */
import type { Link } from '../../api/links.js';
import { type Member, OBJECTS } from '../../api/objects.js';
import type { Stored } from '../api/types.js';
import type { Layout } from '../forms/layout.js';
import { TEXT } from '../texts.js';
import {
  type Item,
  type LineForm,
  linesOf,
  NODE_ITEM,
  NODE_LINE,
  SERVICE_ITEM,
  SERVICE_LINE,
  TEMPLATE_ITEM,
  TEMPLATE_LINE,
} from './lines.js';

/** An object as its form holds it: every field as text. */
export type Form = Readonly<Record<string, string>>;

/** A body to send. */
export type Body = Record<string, unknown>;

/** How a field is edited. */
export type Control =
  | { readonly type: 'text' | 'area' | 'lines' | 'check' | 'rules' | 'json' }
  | { readonly type: 'select'; readonly options: readonly string[] }
  | { readonly type: 'links'; readonly list: string; readonly namespace?: string }
  | { readonly type: 'name'; readonly list: string }
  | { readonly type: 'offered'; readonly offers: readonly string[] }
  | { readonly type: 'items'; readonly item: Item };

/** A field of an object. */
export interface Field {
  /** The member of the object. */
  readonly key: string;
  readonly label: string;
  readonly help?: string;
  readonly control: Control;
  /** What a new object has. */
  readonly initial: string;
  /** Set if an object must have it. */
  readonly isRequired?: true;
  /** Set if it cannot be changed once the object exists. */
  readonly isFixed?: true;
  /** Set if only a new object has it. */
  readonly isOfNew?: true;
  /** Returns how it is edited, where that depends on what is typed elsewhere. */
  controlOf?(form: Form): Control | undefined;
  /** Returns the form over its JSON text, if there is one for what is typed elsewhere. */
  layoutOf?(form: Form): Layout | undefined;
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

/** What a type says about a field beyond the table of its members. */
export type More = Partial<
  Pick<
    Field,
    | 'control'
    | 'controlOf'
    | 'help'
    | 'initial'
    | 'isFixed'
    | 'isOfNew'
    | 'isRequired'
    | 'layoutOf'
    | 'write'
  >
>;
/** How the text of a field is made from an object, and written into a body. */
type Way = Pick<Field, 'control' | 'read' | 'write'> & Partial<Pick<Field, 'initial'>>;

/** The items that have a line each. */
const LINES: Readonly<Record<string, readonly [form: LineForm<object>, item: Item]>> = {
  ServiceIdentities: [SERVICE_LINE as LineForm<object>, SERVICE_ITEM],
  NodeIdentities: [NODE_LINE as LineForm<object>, NODE_ITEM],
  TemplatedPolicies: [TEMPLATE_LINE as LineForm<object>, TEMPLATE_ITEM],
};

/** Returns the field of a member, which may be one of a member: `ACLs.RoleDefaults`. */
export function fieldOf(path: string, member: Member, more: More = {}): Field {
  const [key = '', within] = path.split('.').reverse();
  const help = TEXT.memberHelp[key];
  const { label } = member;
  return {
    key,
    label,
    initial: '',
    ...(help !== undefined && { help }),
    ...wayOf(key, within, member),
    ...more,
  };
}

function wayOf(key: string, within: string | undefined, { is, to, values }: Member): Way {
  if (is === 'boolean') return check(key);
  if (is === 'links') return links(key, OBJECTS[to!].listPath, within);
  if (is === 'texts') return texts(key);
  if (LINES[key] !== undefined) return lines(key, ...LINES[key]);
  if (is !== 'text') return json(key);
  return text(key, values && { type: 'select', options: values });
}

/** A text. */
export const text = (key: string, control: Control = { type: 'text' }): Way => ({
  control,
  read: (object) => String(object[key] ?? ''),
  write(body, value) {
    body[key] = value;
  },
});

/** Yes or no. */
const check = (key: string): Way => ({
  control: { type: 'check' },
  initial: 'false',
  read: (object) => String(object[key] === true),
  write(body, value) {
    body[key] = value === 'true';
  },
});

/** A list with a line for each text. */
const texts = (key: string): Way => ({
  control: { type: 'lines' },
  read: (object) => ((object[key] ?? []) as readonly string[]).join('\n'),
  write(body, value) {
    const all = linesOf(value);
    if (all.length > 0 || body[key] !== undefined) body[key] = all;
  },
});

/**
 * Links to policies or roles by name; those that are there keep their ID. `within`: the member that
 * has them. What namespaces have in one are objects of the namespace `default`.
 */
function links(key: string, list: string, within: string | undefined): Way {
  const of = (object: Readonly<Record<string, unknown>>): readonly Link[] => {
    const holder = within === undefined ? object : (object[within] ?? {});
    return ((holder as Record<string, unknown>)[key] ?? []) as readonly Link[];
  };
  return {
    control: { type: 'links', list, ...(within && { namespace: 'default' }) },
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
}

const lines = (key: string, form: LineForm<object>, item: Item): Way => ({
  control: { type: 'items', item },
  read: (object) => ((object[key] ?? []) as readonly object[]).map(form.write).join('\n'),
  write(body, value) {
    // A line holds less than an item may: one that was not touched is sent as it is stored.
    const stored = [...((body[key] ?? []) as readonly object[])];
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

/** Returns a JSON text as a value. Throws `FieldFault`. */
export function parsed(key: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new FieldFault(key, TEXT.form.noJson((error as Error).message));
  }
}

/** Part of an object as JSON. Without text the member is left out. */
const json = (key: string): Way => ({
  control: { type: 'json' },
  read: (object) => (object[key] === undefined ? '' : JSON.stringify(object[key], null, 2)),
  write(body, value) {
    if (value.trim() === '') delete body[key];
    else body[key] = parsed(key, value);
  },
});
