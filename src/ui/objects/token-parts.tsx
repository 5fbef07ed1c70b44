/** What belongs to a token: how it came to be, its clones, its rights. */
import { useState } from 'preact/hooks';
import { ask, read } from '../api/client.js';
import type { Effective, Stored } from '../api/types.js';
import { AsOf, atQuery, MomentField, Oldest } from '../explain/moment.js';
import { RightsTable } from '../explain/rights-table.js';
import { Form, useAttempt } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { useMay } from '../parts/rights.js';
import { Term } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { go, hrefOf, visited } from '../router.js';
import { TEXT } from '../texts.js';
import { IdentityTerm, RevokeIdentity, useIdentity } from './identity.js';
import { LastUsed } from './last-used.js';
import { noteSecret } from './types.js';

/** All of it. */
export function TokenParts({ token }: { token: Stored }) {
  const accessor = String(token['AccessorID']);
  const { AuthMethod: method, AuthMethodNamespace: ns, ExpirationTime: expires } = token;
  const identity = useIdentity(token);
  return (
    <>
      <Panel title={TEXT.token.about}>
        <dl>
          <Term name={TEXT.field.accessor}>{accessor}</Term>
          <Term name={TEXT.token.created}>
            <Time at={token['CreateTime'] as string | undefined} />
          </Term>
          <Term name={TEXT.field.expires}>
            {expires === undefined ? TEXT.token.never : <Time at={String(expires)} />}
          </Term>
          {method !== undefined && (
            <Term name={TEXT.field.method}>
              <Link to={['auth-methods', String(method)]} query={{ ns: ns as string | undefined }}>
                {String(method)}
              </Link>
            </Term>
          )}
          <IdentityTerm of={identity} leads />
          <LastUsed path={`/v1/acl/token/${accessor}/usage`} />
        </dl>
        <Clone accessor={accessor} />
        <RevokeIdentity of={identity} />
        <p class="links">
          <Link to={['explain']} query={{ accessor }}>
            {TEXT.token.explain}
          </Link>
          <Link to={['history']} query={{ author: accessor }}>
            {TEXT.token.changes}
          </Link>
        </p>
      </Panel>
      <Rights accessor={accessor} index={token.ModifyIndex} />
    </>
  );
}

function Clone({ accessor }: { accessor: string }) {
  const { problem, isBusy, attempt } = useAttempt();
  const may = useMay('acl:write');
  const clone = async (signal: AbortSignal): Promise<void> => {
    const isHere = visited();
    const path = `/v1/acl/token/${accessor}/clone`;
    const { value } = await ask<Stored>(path, { method: 'PUT', body: {}, signal });
    noteSecret(value);
    if (isHere()) go(hrefOf(['tokens', String(value['AccessorID'])]));
  };
  return (
    <>
      <button type="button" disabled={isBusy || may === false} onClick={() => void attempt(clone)}>
        {TEXT.token.clone}
      </button>
      <ProblemNotice problem={problem} />
    </>
  );
}

/** The rights now, or as of another moment. */
function Rights({ accessor, index }: { accessor: string; index: number }) {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState('');
  const { value, problem } = useLoad(
    (signal) => {
      const how = { signal, query: atQuery(at) };
      return read<Effective>(`/v1/acl/token/${accessor}/effective`, how);
    },
    [accessor, index, at],
  );
  return (
    <Panel title={TEXT.rights.heading}>
      <Form onSubmit={() => setAt(typed)}>
        <MomentField value={typed} onInput={setTyped} />
        <div class="buttons">
          <button type="submit">{TEXT.moment.show}</button>
        </div>
      </Form>
      <ProblemNotice problem={problem}>
        <Oldest problem={problem} />
      </ProblemNotice>
      <Status>{value !== undefined && <AsOf at={value.At} />}</Status>
      {value !== undefined && (
        <>
          <p>{TEXT.rights.otherwise(value.DefaultPolicy)}</p>
          {value.Rights.length > 0 && <RightsTable rights={value.Rights} />}
          {value.Truncated && <p>{TEXT.rights.truncated}</p>}
        </>
      )}
    </Panel>
  );
}
