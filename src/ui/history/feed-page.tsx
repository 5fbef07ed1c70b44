/** The feed: the newest changes of all objects that the user may read. */
import { useState } from 'preact/hooks';
import { ask } from '../api/client.js';
import type { Feed } from '../api/history.js';
import { CheckField } from '../parts/field.js';
import { useWatch } from '../parts/load.js';
import { Empty, ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Time } from '../parts/time.js';
import { type Act, ActDialog } from '../plan/review.js';
import { hrefOf, type Place, readdress } from '../router.js';
import { TEXT } from '../texts.js';
import { undoing } from './acts.js';
import { Lines } from './lines.js';

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
      {Changes.length > 0 && (
        <Lines title={TEXT.page.history} all={Changes} onUndo={(index) => setAct(undoing(index))} />
      )}
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
