/** Config entries as a type of objects: one entry is one JSON text. */
import { KINDS } from '../../api/objects.js';
import { ask, find } from '../api/client.js';
import { Problem } from '../api/problem.js';
import type { Stored } from '../api/types.js';
import { ENTRY_LAYOUTS } from '../forms/layouts.js';
import { type Field, FieldFault, parsed, text } from '../objects/fields.js';
import { INDEX, type ObjectType } from '../objects/type.js';
import type { Need } from '../parts/rights.js';
import { TEXT } from '../texts.js';

/** Members that the form shows by themselves, or that only answers have. */
const APART = new Set([
  'Kind',
  'Name',
  'Namespace',
  'Partition',
  'Hash',
  'Status',
  'CreateIndex',
  'ModifyIndex',
]);

const entry: Field = {
  key: 'Entry',
  label: TEXT.field.entry,
  help: TEXT.help.entry,
  control: { type: 'json' },
  layoutOf: ({ Kind = '' }) => ENTRY_LAYOUTS[Kind],
  initial: '{\n  \n}',
  apart: APART,
  read: (object) =>
    JSON.stringify(
      Object.fromEntries(Object.entries(object).filter(([member]) => !APART.has(member))),
      null,
      2,
    ),
  write(body, value) {
    const members = parsed('Entry', value);
    if (typeof members !== 'object' || members === null || Array.isArray(members))
      throw new FieldFault('Entry', TEXT.form.noObject);
    const { Kind, Name } = body;
    const only = KINDS.find(({ kind }) => kind === Kind)?.onlyName;
    for (const member of Object.keys(body)) delete body[member];
    Object.assign(body, only && { Name: only }, members, { Kind, ...(Name !== '' && { Name }) });
  },
};

const pathOf = (kind: string, name: string): string =>
  `/v1/config/${encodeURIComponent(kind)}/${encodeURIComponent(name)}`;

/** Returns the right to write an entry; none where it depends on a name that is not known yet. */
export function configRight(kind: string | undefined, name: string): Need {
  const { needs = '', isOnName, isClusterWide } = KINDS.find((row) => row.kind === kind) ?? {};
  if (isOnName) return name === '' ? { right: '' } : { right: needs, on: name };
  return isClusterWide ? { right: needs, ns: 'default' } : { right: needs };
}

/** Entries of a kind, or of all kinds. A new one has this kind. `name`: the entry that is shown. */
export const configType = (kind: string | undefined, name = ''): ObjectType => ({
  slug: 'config',
  ref: 'config',
  title: TEXT.page.config,
  noun: 'config entry',
  removal: TEXT.remove.about.entry,
  empty: TEXT.empty.config,
  right: configRight(kind, name).right || undefined,
  rightTo: () => configRight(kind, name),
  columns: [
    { title: TEXT.field.name, sort: 'name', cell: ({ Name }) => String(Name) },
    { title: TEXT.field.kind, cell: ({ Kind }) => String(Kind) },
    INDEX,
  ],
  schema: ({ Kind = '' }) => `/v1/schema/config/${encodeURIComponent(Kind)}`,
  list: ([listed = '']) => `/v1/config/${encodeURIComponent(listed)}`,
  idOf: ({ Kind, Name }) => [String(Kind), String(Name)],
  nameOf: ({ Name }) => String(Name),
  fields: [
    {
      ...text('Kind', { type: 'select', options: KINDS.map((each) => each.kind) }),
      key: 'Kind',
      label: TEXT.field.kind,
      help: '',
      initial: KINDS.find((row) => row.kind === kind)?.kind ?? 'service-defaults',
      isFixed: true,
    },
    { ...text('Name'), key: 'Name', label: TEXT.field.name, initial: '', isFixed: true },
    entry,
  ],
  async find([of = '', ...names], signal) {
    const object = await find<Stored>(pathOf(of, names.join('/')), { signal });
    return object && { object, index: object.ModifyIndex };
  },
  async write(body, before, { signal, reason }) {
    const query = { cas: String(before?.index ?? 0) };
    const how = { method: 'PUT', query, body, signal, reason } as const;
    const { value } = await ask<boolean>('/v1/config', how);
    if (!value && before === undefined) {
      const detail = TEXT.config.exists(String(body['Kind']), String(body['Name']));
      throw new Problem(409, { detail, code: 'conflict', pointer: '/Name' });
    }
    if (!value) return undefined;
    return { to: ['config', String(body['Kind']), String(body['Name'])] };
  },
  async remove({ object, index }, { signal, reason }) {
    const path = pathOf(String(object['Kind']), String(object['Name']));
    const query = { cas: String(index) };
    return (await ask<boolean>(path, { method: 'DELETE', query, signal, reason })).value;
  },
});
