/** Lines of the feed, in a table. */
import type { FeedLine } from '../api/history.js';
import { idParts } from '../objects/linking.js';
import { Link } from '../parts/link.js';
import { type Need, useRights } from '../parts/rights.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';
import { needOf } from './acts.js';
import { isOfServer, Who } from './made.js';

/**
 * One row for each object; an entry that changed several is undone by its first row. Without
 * `onUndo` nothing can be undone here.
 */
export function Lines({
  title,
  all,
  onUndo,
}: {
  title: string;
  all: readonly FeedLine[];
  onUndo?: (index: number) => void;
}) {
  const undoable = onUndo === undefined ? [] : all.filter(isUndoable);
  const may = useRights(undoable.map(needOfLine));
  const columns = TEXT.history.columns;
  return (
    <Table
      caption={title}
      label={TEXT.list.table(title)}
      columns={onUndo === undefined ? columns : [...columns, TEXT.history.undoColumn]}
    >
      {all.map((line, nth) => (
        <tr key={`${line.Index} ${line.Type} ${line.ID}`}>
          <td>
            <Time at={line.Time ?? undefined} />
          </td>
          <td>
            <Who author={line.Author} />
          </td>
          <td>
            <What line={line} />
          </td>
          <td>{line.Reason}</td>
          {onUndo !== undefined && (
            <td>
              {line.Index !== all[nth - 1]?.Index && isUndoable(line) && (
                <UndoButton
                  lacking={undoable
                    .filter(({ Index }) => Index === line.Index)
                    .map(needOfLine)
                    .find((need) => may(need) === false)}
                  onUndo={() => onUndo(line.Index)}
                />
              )}
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}

/** Undoes an entry, unless a right is lacking. */
function UndoButton({ lacking, onUndo }: { lacking: Need | undefined; onUndo: () => void }) {
  if (lacking !== undefined)
    return <span class="quiet">{TEXT.history.requires(lacking.right)}</span>;
  return (
    <button type="button" onClick={onUndo}>
      {TEXT.history.undo}
    </button>
  );
}

const needOfLine = ({ Type, ID, Namespace }: FeedLine): Need =>
  needOf(Type, idParts(Type, ID), Namespace);

const isUndoable = ({ Type, Operation, Author }: FeedLine): boolean =>
  Type !== 'login-tokens' && Operation !== 'restore' && !isOfServer(Author);

/** What was done to which object. */
function What({ line }: { line: FeedLine }) {
  const { Operation, Type, ID, Name, Namespace, Count } = line;
  const what = `${Operation} ${Type} `;
  if (Type === 'login-tokens' || ID === '') {
    const count = Count === undefined ? '' : TEXT.history.count(Count);
    return <>{what + (Name || ID) + count}</>;
  }
  // Entries of several kinds have the same name.
  const shown = (Type !== 'config' && Name) || ID;
  const ns = Type === 'namespace' || Namespace === '' ? {} : { ns: Namespace };
  return (
    <>
      {what}
      <Link to={['history', Type, ...idParts(Type, ID)]} query={ns}>
        {shown}
      </Link>
    </>
  );
}
