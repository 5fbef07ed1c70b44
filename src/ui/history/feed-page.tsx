/** The feed: the newest changes of all objects that the user may read. */
import { useState } from 'preact/hooks';
import { ask } from '../api/client.js';
import type { Feed, FeedLine } from '../api/history.js';
import { idParts } from '../objects/linking.js';
import { CheckField } from '../parts/field.js';
import { Link } from '../parts/link.js';
import { useWatch } from '../parts/load.js';
import { Empty, ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { type Need, useRights } from '../parts/rights.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { type Act, ActDialog } from '../plan/review.js';
import { hrefOf, type Place, readdress } from '../router.js';
import { TEXT } from '../texts.js';
import { needOf, undoing } from './acts.js';
import { isOfServer, Who } from './made.js';

/** Lines that are read at first, and at most. */
const FIRST = 100;
const MOST = 1000;

/** The feed, which grows while it is shown. What it leaves out stands in the address. */
export function FeedPage({ at }: { at: Place }) {
  const logins = at.query.get('logins') === 'true';
  const author = at.query.get('author') ?? undefined;
  const [limit, setLimit] = useState(FIRST);
  const [act, setAct] = useState<Act>();
  const [done, setDone] = useState<string>();
  const { value, problem } = useWatch(
    (signal, watched) => {
      const chosen = { logins: logins ? 'true' : undefined, author, limit: String(limit) };
      return ask<Feed>('/v1/history', { signal, query: { ...chosen, ...watched } });
    },
    [logins, author, limit, at.query.get('ns')],
  );
  const { Changes = [], More = false, OldestTime } = value ?? {};
  return (
    <Page title={TEXT.page.history} about={TEXT.history.about}>
      <CheckField
        label={TEXT.history.logins}
        value={String(logins)}
        onInput={(next) => readdress(hrefOf(at.parts, { author, logins: next }))}
      />
      <ProblemNotice problem={problem} />
      <Status>{done}</Status>
      {value !== undefined && Changes.length === 0 && <Empty>{TEXT.history.empty}</Empty>}
      {Changes.length > 0 && <Lines all={Changes} onUndo={(index) => setAct(undoing(index))} />}
      {More && limit < MOST && (
        <button type="button" onClick={() => setLimit(Math.min(MOST, limit * 2))}>
          {TEXT.history.more}
        </button>
      )}
      {value !== undefined && !More && OldestTime && (
        <p class="quiet">
          {TEXT.history.since} <Time at={OldestTime} />
        </p>
      )}
      {act !== undefined && (
        <ActDialog
          act={act}
          onBack={() => setAct(undefined)}
          onDone={(applied) => {
            setAct(undefined);
            setDone(TEXT.plan.applied(applied.Changes.length, applied.Index));
          }}
        />
      )}
    </Page>
  );
}

/** One row for each object; an entry that changed several is undone by its first row. */
function Lines({ all, onUndo }: { all: readonly FeedLine[]; onUndo: (index: number) => void }) {
  const undoable = all.filter(isUndoable);
  const may = useRights(undoable.map(needOfLine));
  return (
    <Table caption={TEXT.page.history} label={TEXT.history.table} columns={TEXT.history.columns}>
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
