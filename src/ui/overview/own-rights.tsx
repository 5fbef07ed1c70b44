/** What the first page shows to who may not see the cluster: their own rights. */
import { read } from '../api/client.js';
import type { Problem } from '../api/problem.js';
import type { Effective } from '../api/types.js';
import { RightsTable } from '../explain/rights-table.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { session } from '../session.js';
import { TEXT } from '../texts.js';

/** The effective rights of the session. `refusal` says why the cluster is not shown. */
export function OwnRights({ refusal }: { refusal: Problem }) {
  const { value, problem } = useLoad(
    (signal) => read<Effective>('/v1/acl/token/self/effective', { signal }),
    [session.get().token],
  );
  return (
    <section aria-labelledby="own-rights">
      <h2 id="own-rights">{TEXT.rights.own}</h2>
      <ProblemNotice problem={problem} />
      {value !== undefined && (
        <>
          <p>{TEXT.rights.otherwise(value.DefaultPolicy)}</p>
          {value.Rights.length === 0 ? (
            <p>{TEXT.rights.none}</p>
          ) : (
            <RightsTable rights={value.Rights} />
          )}
        </>
      )}
      <p class="quiet">
        {TEXT.rights.noCluster}{' '}
        {refusal.decision !== undefined && (
          <Link to={['explain']} query={{ decision: refusal.decision }}>
            {TEXT.problem.why}
          </Link>
        )}
      </p>
    </section>
  );
}
