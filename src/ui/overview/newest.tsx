/** The newest changes of people, as far as the user may read them. */
import { read } from '../api/client.js';
import type { Feed } from '../api/history.js';
import { Lines } from '../history/lines.js';
import { Link } from '../parts/link.js';
import { useLive } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { namespace, place } from '../router.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';

const LIVE = { everyMs: 2000, lateMs: 15_000 };
/** Changes that are shown. They are read stale: a node tells them without a leader too. */
const QUERY = { limit: '10', stale: 'true' };

/** The newest changes of the namespace, in a line each. */
export function NewestChanges() {
  useStore(place);
  return <Changes key={namespace()} />;
}

function Changes() {
  const { value, problem, isLate } = useLive(
    (signal) => read<Feed>('/v1/history', { signal, once: true, query: QUERY }),
    LIVE,
  );
  const { Changes: all = [] } = value ?? {};
  return (
    <section aria-label={TEXT.overview.newest}>
      {value === undefined && <ProblemNotice problem={problem} />}
      {all.length > 0 && (
        <>
          <div class={isLate ? 'late' : undefined}>
            <Lines title={TEXT.overview.newest} all={all} />
          </div>
          <p>
            <Link to={['history']}>{TEXT.overview.allChanges}</Link>
          </p>
        </>
      )}
    </section>
  );
}
