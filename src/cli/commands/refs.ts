/** `refs`: what an object names, who names it, and what a delete of it would do. */
import type { Command } from 'commander';
import type { Refs, ShownObject } from '../../api/endpoints/change.js';
import type { Cli } from '../cli.js';
import type { Column } from '../print/output.js';
import type { Cell, Field } from '../print/table.js';
import { counted } from '../print/text.js';
import { objectCalled, withObject } from './object-argument.js';

const refOf = ({ ID, Name, Namespace, Type }: ShownObject): string =>
  [
    Type,
    ...(Type === 'token' || Type === 'namespace' ? [] : [Namespace]),
    Type === 'token' || Type === 'config' ? ID : Name || ID,
  ].join('/');

const COLUMNS: readonly Column<ShownObject & { readonly How: string }>[] = [
  { head: 'LINK', isWhole: true, cell: ({ How }) => How },
  { head: 'OBJECT', isWhole: true, cell: refOf },
  { head: 'NAME', cell: ({ Name, Type }) => (Type === 'token' ? Name : '') },
];

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([type, count]) => counted(count, type.replaceAll('-', ' ')))
    .join(', ');

/** Returns what is known about an object, and what its delete would do, as lines. */
function fieldsOf({ IfDeleted, ModifyIndex, Owner, Ref, UsedByTotal }: Refs): readonly Field[] {
  const { Refused, Removed, TokensThatLoseRights, Truncated, Unlinked } = IfDeleted;
  const refused: Cell = Refused === '' ? '' : { text: `refused: ${Refused}`, paint: 'red' };
  const removed = countsText(Removed);
  const unlinked = countsText(Unlinked);
  const losing = `${Truncated ? 'at least ' : ''}${counted(TokensThatLoseRights, 'token')}`;
  return [
    ['Object', Ref],
    ['Owner', Owner],
    ['Modified', String(ModifyIndex)],
    ['Used by', countsText(UsedByTotal) || 'nothing'],
    [
      'If deleted',
      [
        refused,
        removed && `deleted with it: ${removed}`,
        unlinked && `unlinked: ${unlinked}`,
        TokensThatLoseRights > 0 ? { text: `rights lost by: ${losing}`, paint: 'yellow' } : '',
      ],
    ],
  ];
}

export function addRefs(program: Command, cli: Cli): void {
  withObject(
    program.command('refs').description('show what uses an object, and what a delete would do'),
  ).action(
    cli.action(async (call, type, name) => {
      const { api, print } = call;
      const { path } = await objectCalled(call, type, name, '/v1/refs');
      const refs = (await api.get(path)).json<Refs>();
      const links = [
        ...refs.UsedBy.map((one) => ({ ...one, How: 'used by' })),
        ...refs.Uses.map((one) => ({ ...one, How: 'uses' })),
      ];
      if (print.format === 'name') return print.refs(refs.UsedBy.map(refOf));
      if (print.format !== 'table') return print.value(refs);
      print.fields(fieldsOf(refs));
      if (links.length > 0) {
        print.text(['\n']);
        print.table(COLUMNS, links);
      }
      const total = Object.values(refs.UsedByTotal).reduce((sum, one) => sum + one, 0);
      const more = total - refs.UsedBy.length;
      if (more > 0) print.note(`${more} more use it`);
      if (refs.Filtered) print.note('what this token may not read is left out');
    }),
  );
}
