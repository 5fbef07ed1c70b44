/** The table of a list. */
import type { Stored } from '../api/types.js';
import { Link } from '../parts/link.js';
import { type Heading, Table } from '../parts/table.js';
import { TEXT } from '../texts.js';
import type { ObjectType } from './type.js';

/** Returns what identifies an object among those of a list. */
export const keyOf = (type: ObjectType, object: Stored): string => type.idOf(object).join('/');

/** What a box that selects rows is given. */
interface Choice {
  readonly label: string;
  readonly isChosen: boolean;
  onChange(isChosen: boolean): void;
}

const ChoiceBox = ({ label, isChosen, onChange }: Choice) => (
  <input
    type="checkbox"
    aria-label={label}
    checked={isChosen}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
);

function headingsOf(type: ObjectType, sort: string, onSort: (sort: string) => void): Heading[] {
  return type.columns.map(({ title, sort: by }) => {
    if (by === undefined) return title;
    const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;
    return { title, order, onSort: () => onSort(order === 'ascending' ? `-${by}` : by) };
  });
}

/** What a table of a list is given. */
interface ListTableParts {
  readonly type: ObjectType;
  readonly title: string;
  readonly items: readonly Stored[];
  /** Whether another page is being read. */
  readonly isOld: boolean;
  /** What the list is sorted by, after "-" in reverse. */
  readonly sort: string;
  onSort(sort: string): void;
  /** The keys of the objects that are selected; undefined if none can be. */
  readonly chosen: ReadonlySet<string> | undefined;
  onChoose(chosen: ReadonlySet<string>): void;
}

/** The objects of a page. The first cell of a row leads to its object. */
export function ListTable(parts: ListTableParts) {
  const { type, title, items, isOld, sort, onSort, chosen, onChoose } = parts;
  const headings = headingsOf(type, sort, onSort);
  const all = (
    <ChoiceBox
      label={TEXT.list.chooseAll}
      isChosen={items.every((object) => chosen?.has(keyOf(type, object)))}
      onChange={(isChosen) =>
        onChoose(new Set(isChosen ? items.map((object) => keyOf(type, object)) : []))
      }
    />
  );
  const choose = (key: string, isChosen: boolean): void => {
    const rest = [...chosen!].filter((each) => each !== key);
    onChoose(new Set(isChosen ? [...rest, key] : rest));
  };
  return (
    <Table
      caption={title}
      label={TEXT.list.table(title)}
      kind="list"
      columns={chosen === undefined ? headings : [{ title: '', all }, ...headings]}
      isBusy={isOld}
    >
      {items.map((object) => {
        const key = keyOf(type, object);
        const box = chosen && {
          label: TEXT.list.choose(type.nameOf(object)),
          isChosen: chosen.has(key),
          onChange: (isChosen: boolean) => choose(key, isChosen),
        };
        return (
          <tr key={key}>
            {box && (
              <td class="choice">
                <ChoiceBox {...box} />
              </td>
            )}
            <Cells type={type} object={object} />
          </tr>
        );
      })}
    </Table>
  );
}

const Cells = ({ type, object }: { type: ObjectType; object: Stored }) => (
  <>
    {type.columns.map(({ title, cell }, nth) => (
      <td key={title}>
        {nth > 0 ? (
          cell(object)
        ) : (
          <Link to={[type.slug, ...type.idOf(object)]}>{cell(object)}</Link>
        )}
      </td>
    ))}
  </>
);
