/** The history of one object: its versions, what differs between them, and the ways back. */
import { useState } from 'preact/hooks';
import { ask, read } from '../api/client.js';
import {
  historyPath,
  type ObjectVersion,
  type VersionDiff,
  type Versions,
} from '../api/history.js';
import { objectPage } from '../objects/linking.js';
import { SelectField } from '../parts/field.js';
import { Form, useAttempt } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { useWatch } from '../parts/load.js';
import { ProblemNotice, ReadOnly, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { useMay } from '../parts/rights.js';
import { type Act, ActDialog } from '../plan/review.js';
import { DiffItems } from '../plan/view.js';
import { go, hrefOf, type Place } from '../router.js';
import { TEXT } from '../texts.js';
import { goingBack, needOf, undoing } from './acts.js';
import { VersionLine } from './made.js';

/** Versions that are read at first, and at most. */
const FIRST = 50;
const MOST = 1000;

/** The versions of an object that are shown. */
interface Shown {
  readonly type: string;
  readonly id: readonly string[];
  readonly versions: readonly ObjectVersion[];
}

/** The object that the address names. */
export function VersionsPage({ at }: { at: Place }) {
  const [, type = '', ...id] = at.parts;
  const [limit, setLimit] = useState(FIRST);
  const [act, setAct] = useState<Act>();
  const [done, setDone] = useState<string>();
  const { value, problem } = useWatch(
    (signal) => ask<Versions>(historyPath(type, id), { signal, query: { limit: String(limit) } }),
    [limit, done],
    { isHeld: false },
  );
  const to = objectPage(type, id);
  const need = needOf(type, id);
  const mayWrite = useMay(need.right, need.on, need.ns);
  const { Name, Exists = false, Versions: versions = [], More = false } = value ?? {};
  return (
    <Page title={TEXT.history.title(Name || id.join('/'))}>
      <ProblemNotice problem={problem} />
      {mayWrite === false && <ReadOnly {...need} />}
      <Status>{done}</Status>
      {Exists && to && (
        <p>
          <Link to={to}>{TEXT.history.object}</Link>
        </p>
      )}
      {value !== undefined && (
        <>
          <h2 id="versions">{TEXT.history.versions}</h2>
          <VersionList
            type={type}
            id={id}
            versions={versions}
            mayWrite={mayWrite !== false}
            onAct={setAct}
          />
          {More && limit < MOST && (
            <button type="button" onClick={() => setLimit(Math.min(MOST, limit * 2))}>
              {TEXT.history.more}
            </button>
          )}
          {versions.length > 1 && <Compare type={type} id={id} versions={versions} />}
        </>
      )}
      {act !== undefined && (
        <ActDialog
          act={act}
          onBack={() => setAct(undefined)}
          onDone={({ Changes, Index }) => {
            setAct(undefined);
            setDone(TEXT.plan.applied(Changes.length, Index));
          }}
        />
      )}
    </Page>
  );
}

/** Two ways back lead from a version, and one to its moment. */
const VersionList = ({
  type,
  id,
  versions,
  mayWrite,
  onAct,
}: Shown & { mayWrite: boolean; onAct: (act: Act) => void }) => (
  <ul class="versions" aria-labelledby="versions">
    {versions.map((version) => (
      <li key={version.Index}>
        <VersionLine version={version} />
        <Ways
          version={version}
          mayWrite={mayWrite}
          accessor={type === 'token' ? id[0] : undefined}
          onGoBack={() => onAct(goingBack(type, id, version.Index))}
          onUndo={() => onAct(undoing(version.Index))}
        />
      </li>
    ))}
  </ul>
);

/** What can be done with a version. */
function Ways({
  version: { Index, Operation, Current },
  mayWrite,
  accessor,
  onGoBack,
  onUndo,
}: {
  version: ObjectVersion;
  mayWrite: boolean;
  /** The token whose rights are explained, if it is one. */
  accessor: string | undefined;
  onGoBack: () => void;
  onUndo: () => void;
}) {
  const explain = (): void => go(hrefOf(['explain'], { at: String(Index), accessor }));
  return (
    <div class="buttons">
      {mayWrite && !Current && Operation !== 'delete' && (
        <button type="button" onClick={onGoBack}>
          {TEXT.history.goBack}
        </button>
      )}
      {mayWrite && Operation !== 'unknown' && (
        <button type="button" onClick={onUndo}>
          {TEXT.history.undo}
        </button>
      )}
      <button type="button" onClick={explain}>
        {TEXT.history.explain}
      </button>
    </div>
  );
}

/** Two versions to choose, and what differs between them. */
function Compare({ type, id, versions }: Shown) {
  const indexes = versions.map(({ Index }) => String(Index));
  const [from, setFrom] = useState(indexes[1]!);
  const [to, setTo] = useState(indexes[0]!);
  const [shown, setShown] = useState<VersionDiff & { readonly of: string }>();
  const { problem, isBusy, attempt } = useAttempt();
  const of = `${from} ${to}`;
  const compare = async (): Promise<void> => {
    const { Diff } = await read<VersionDiff>(historyPath(type, id), { query: { from, to } });
    setShown({ Diff, of });
  };
  // Of other versions than those that are chosen now, it would mislead.
  const items = shown?.of === of ? shown.Diff : undefined;
  return (
    <Form class="panel" onSubmit={() => void attempt(compare)}>
      <div class="row fields">
        <SelectField label={TEXT.history.from} options={indexes} value={from} onInput={setFrom} />
        <SelectField label={TEXT.history.to} options={indexes} value={to} onInput={setTo} />
      </div>
      <button type="submit" disabled={isBusy}>
        {TEXT.history.compare}
      </button>
      <ProblemNotice problem={problem} />
      <Status>{items?.length === 0 && TEXT.history.same}</Status>
      {items !== undefined && <DiffItems items={items} type={type} />}
    </Form>
  );
}
