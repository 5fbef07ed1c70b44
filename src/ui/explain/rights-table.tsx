/** All rights of a token as one table. */
import type { Right } from '../api/types.js';
import { Table } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { Way } from './result.js';

const matched = (match: string, name: string): string =>
  match === 'scalar' ? '' : match === 'prefix' ? `${name}*` : name;

/** The merged rights, and where each comes from. */
export function RightsTable({ rights }: { rights: readonly Right[] }) {
  return (
    <Table caption={TEXT.rights.title} columns={TEXT.rights.columns}>
      {rights.map((right) => (
        <tr
          key={[
            right.Layer,
            right.Namespace.Match,
            right.Namespace.Name,
            right.Resource,
            right.Match,
            right.Name,
          ].join(' ')}
        >
          <td>{right.Resource}</td>
          <td>{matched(right.Match, right.Name ?? '')}</td>
          <td>
            {right.Level}
            {right.Intentions !== undefined && TEXT.rights.intentions(right.Intentions)}
          </td>
          <td>{matched(right.Namespace.Match, right.Namespace.Name)}</td>
          <td>
            {right.Sources.map((source) => (
              <div key={source.Path.map(({ ID, Name }) => ID ?? Name).join('/')}>
                <Way source={source} />
              </div>
            ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}
