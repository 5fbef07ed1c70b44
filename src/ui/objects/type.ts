/** What the pages of one type of objects are made from. */
import type { ComponentChildren } from 'preact';
import type { Finding, Stored } from '../api/types.js';
import type { Need } from '../parts/rights.js';
import { TEXT } from '../texts.js';
import type { Body, Field, Form } from './fields.js';

/** A column of a list. The first shows the link to the object. */
export interface Column {
  readonly title: string;
  /** What the list is sorted by to sort this column, if that is possible. */
  readonly sort?: string | undefined;
  cell(object: Stored): ComponentChildren;
}

/** When an object was changed last: the index of the entry. */
export const INDEX: Column = {
  title: TEXT.field.index,
  sort: 'modified',
  cell: ({ ModifyIndex }) => String(ModifyIndex),
};

/** A part of a list that is often looked for. */
export interface Facet {
  readonly title: string;
  /** An expression of the filter language. */
  readonly filter: string;
  readonly sort?: string;
}

/** An object that is stored: what was read, and its index. */
export interface Version {
  readonly object: Stored;
  readonly index: number;
}

/** How something is written or deleted. */
export interface WriteHow {
  /** Ends the write while it waits to be sent. */
  readonly signal: AbortSignal;
  /** Why; '' for nothing. */
  readonly reason: string;
}

/** What became of a write. */
export interface Written {
  /** The path of the object below `/ui`. */
  readonly to: readonly string[];
  /** What lint found. */
  readonly lint?: string | undefined;
}

/** A type of objects. */
export interface ObjectType {
  /** The first segment of its pages. */
  readonly slug: string;
  /** Its name in sets and references, and in the paths of the history. */
  readonly ref: string;
  readonly title: string;
  readonly noun: string;
  /** What a page without objects says. */
  readonly empty: string;
  /** The right to write: resource and access; undefined if it depends on the object. */
  readonly right: string | undefined;
  /** The right to write one object, or a new one, if that is another. */
  rightTo?(id: readonly string[] | undefined): Need;
  readonly columns: readonly Column[];
  /** Filters that the list offers. */
  readonly facets?: readonly Facet[];
  /** A member of which the list offers the values: the names of another list. */
  readonly facetOf?: { readonly member: string; readonly label: string; readonly list: string };
  /** Whether the list can be narrowed by who is behind a login. */
  readonly isOfIdentities?: true;
  /** The endpoint of the list. `parts` are the segments of the page after the first. */
  list(parts: readonly string[]): string;
  /** The segments of an object's page after the first. */
  idOf(object: Stored): readonly string[];
  nameOf(object: Stored): string;
  readonly fields: readonly Field[];
  /** What a deletion does. */
  readonly removal: string;
  /** The endpoint of the schema of a body. */
  schema(form: Form): string;
  /** The endpoint of lint, if there is one, and the field under which its findings are listed. */
  readonly lint?: { readonly path: string; readonly below: string };
  /** Reads an object; undefined if there is none. */
  find(id: readonly string[], signal?: AbortSignal): Promise<Version | undefined>;
  /** Writes an object, `before` what it was; undefined if it changed meanwhile. */
  write(body: Body, before: Version | undefined, how: WriteHow): Promise<Written | undefined>;
  /** Deletes an object; false if it changed meanwhile. */
  remove(before: Version, how: WriteHow): Promise<boolean>;
}

/** Returns the form of an object, or of a new one. */
export const formOf = ({ fields }: ObjectType, object: Stored | undefined): Form =>
  Object.fromEntries(
    fields.map(({ key, initial, read }) => [key, object === undefined ? initial : read(object)]),
  );

/** Members that answers have and bodies need not. */
const ANSWERED = ['Hash', 'CreateIndex', 'ModifyIndex', 'CreateTime', 'Namespace', 'SecretID'];

/** Returns the body of a form. What the form does not show stays as it is. Throws `FieldFault`. */
export function bodyOf({ fields }: ObjectType, form: Form, before: Stored | undefined): Body {
  const body: Body = { ...before };
  for (const member of ANSWERED) delete body[member];
  for (const field of fields) {
    if (field.isOfNew && before !== undefined) continue;
    field.write(body, form[field.key] ?? '');
  }
  return body;
}

/** Returns the findings that belong to a field. Those of policies name none. */
export const findingsOf = ({ key }: Field, findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ Field: name = 'Rules' }) => name === key);
