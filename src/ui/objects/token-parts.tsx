/** What belongs to a token: how it came to be, its clones, its rights. */
import { useState } from 'preact/hooks';
import { ask, read } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import type { Effective, Stored } from '../api/types.js';
import { RightsTable } from '../explain/rights-table.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { useMay } from '../parts/rights.js';
import { Time } from '../parts/time.js';
import { go, hrefOf } from '../router.js';
import { TEXT } from '../texts.js';
import { noteSecret } from './types.js';

/** All of it. */
export function TokenParts({ token }: { token: Stored }) {
  const accessor = String(token['AccessorID']);
  const method = token['AuthMethod'];
  return (
    <>
      <section class="panel">
        <h2>{TEXT.token.about}</h2>
        <dl>
          <div>
            <dt>{TEXT.field.accessor}</dt>
            <dd>{accessor}</dd>
          </div>
          <div>
            <dt>{TEXT.token.created}</dt>
            <dd>
              <Time at={token['CreateTime'] as string | undefined} />
            </dd>
          </div>
          <div>
            <dt>{TEXT.field.expires}</dt>
            <dd>
              {token['ExpirationTime'] === undefined ? (
                TEXT.token.never
              ) : (
                <Time at={String(token['ExpirationTime'])} />
              )}
            </dd>
          </div>
          {method !== undefined && (
            <div>
              <dt>{TEXT.field.method}</dt>
              <dd>
                <Link to={['auth-methods', String(method)]}>{String(method)}</Link>
              </dd>
            </div>
          )}
        </dl>
        <Clone accessor={accessor} />
        <p>
          <Link to={['explain']} query={{ accessor }}>
            {TEXT.token.explain}
          </Link>
        </p>
      </section>
      <Rights accessor={accessor} index={token.ModifyIndex} />
    </>
  );
}

function Clone({ accessor }: { accessor: string }) {
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const may = useMay('acl:write');
  const clone = async (): Promise<void> => {
    setBusy(true);
    try {
      const path = `/v1/acl/token/${accessor}/clone`;
      const { value } = await ask<Stored>(path, { method: 'PUT', body: {} });
      noteSecret(value);
      go(hrefOf(['tokens', String(value['AccessorID'])]));
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" disabled={isBusy || may === false} onClick={clone}>
        {TEXT.token.clone}
      </button>
      <ProblemNotice problem={problem} />
    </>
  );
}

function Rights({ accessor, index }: { accessor: string; index: number }) {
  const { value, problem } = useLoad(
    (signal) => read<Effective>(`/v1/acl/token/${accessor}/effective`, { signal }),
    [accessor, index],
  );
  return (
    <section class="panel">
      <h2>{TEXT.rights.heading}</h2>
      <ProblemNotice problem={problem} />
      {value !== undefined && (
        <>
          <p>{TEXT.rights.otherwise(value.DefaultPolicy)}</p>
          {value.Rights.length > 0 && <RightsTable rights={value.Rights} />}
          {value.Truncated && <p>{TEXT.rights.truncated}</p>}
        </>
      )}
    </section>
  );
}
