/** What the first page shows to who may not see the cluster: who they are, and their own rights. */
import { read, SELF } from '../api/client.js';
import type { Problem } from '../api/problem.js';
import type { Effective, Stored } from '../api/types.js';
import { RightsTable } from '../explain/rights-table.js';
import { type Identity, IdentityTerm } from '../objects/identity.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { Term } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { session } from '../session.js';
import { TEXT } from '../texts.js';

/** Who uses the session, and its effective rights. `refusal` says why the cluster is not shown. */
export function OwnRights({ refusal }: { refusal: Problem }) {
  const { token } = session.get();
  const { value, problem } = useLoad(
    (signal) => read<Effective>('/v1/acl/token/self/effective', { signal }),
    [token],
  );
  return (
    <>
      {token !== undefined && <WhoYouAre token={token} />}
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
            {value.Truncated && <p>{TEXT.rights.truncated}</p>}
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
    </>
  );
}

/** The token of the session, and who is behind it. */
function WhoYouAre({ token }: { token: string }) {
  const { value: self } = useLoad(
    (signal) => {
      const how = { signal, ns: '', query: { expanded: 'true' } };
      return read<Stored & { readonly Identity?: Identity }>(SELF, how);
    },
    [token],
  );
  if (self === undefined) return null;
  const {
    AccessorID: accessor,
    Description: about,
    AuthMethod: method,
    ExpirationTime: end,
  } = self;
  return (
    <section aria-labelledby="who">
      <h2 id="who">{TEXT.rights.who}</h2>
      <dl>
        <IdentityTerm of={self.Identity} />
        {method !== undefined && <Term name={TEXT.field.method}>{String(method)}</Term>}
        {about !== '' && <Term name={TEXT.field.token}>{String(about)}</Term>}
        <Term name={TEXT.field.accessor}>{String(accessor)}</Term>
        <Term name={TEXT.field.expires}>
          {end === undefined ? TEXT.token.never : <Time at={String(end)} />}
        </Term>
      </dl>
    </section>
  );
}
