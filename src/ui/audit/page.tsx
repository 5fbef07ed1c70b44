/** The newest audit records of the node that serves the page, and where it writes them. */
import { useState } from 'preact/hooks';
import type { AuditRecord } from '../../api/audit-record.js';
import type { AuditSink, AuditSinks } from '../../api/endpoints/operator.js';
import { read } from '../api/client.js';
import { CheckField, TextField } from '../parts/field.js';
import { Link } from '../parts/link.js';
import { useLive } from '../parts/load.js';
import { Empty, ProblemNotice } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';

const LIVE = { everyMs: 2000, lateMs: 10_000 };
const RECORDS = '500';

interface Seen {
  readonly Node: string;
  readonly Records: readonly AuditRecord[];
  readonly sinks: readonly AuditSink[];
}

async function look(signal: AbortSignal): Promise<Seen> {
  const query = { limit: RECORDS };
  const [tail, { Sinks: sinks }] = await Promise.all([
    read<Omit<Seen, 'sinks'>>('/v1/operator/audit/tail', { signal, query }),
    read<AuditSinks>('/v1/operator/audit', { signal }),
  ]);
  return { ...tail, sinks };
}

export function AuditPage() {
  const { value, problem } = useLive(look, LIVE);
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const [hasReads, setReads] = useState('false');
  const shown = (value?.Records ?? []).filter(
    ({ payload }) =>
      (hasReads === 'true' || !isAllowedRead(payload)) &&
      (wanted === '' || JSON.stringify(payload).toLowerCase().includes(wanted)),
  );
  return (
    <Page title={TEXT.page.audit} about={TEXT.audit.about(value?.Node ?? '')}>
      <ProblemNotice problem={problem} />
      {value !== undefined && (
        <>
          <Sinks all={value.sinks} />
          <TextField label={TEXT.list.filter} value={filter} onInput={setFilter} />
          <CheckField label={TEXT.audit.reads} value={hasReads} onInput={setReads} />
          {shown.length === 0 ? <Empty>{TEXT.audit.empty}</Empty> : <Records all={shown} />}
        </>
      )}
    </Page>
  );
}

/** Whether a request only read: pages that are open make such records all the time. */
const isAllowedRead = ({ request, response, decision }: AuditRecord['payload']): boolean =>
  request.operation === 'GET' && decision === '' && response.status.startsWith('2');

function Sinks({ all }: { all: readonly AuditSink[] }) {
  if (all.length === 0) return <p class="quiet">{TEXT.audit.noSinks}</p>;
  return (
    <Table caption={TEXT.audit.sinks} columns={TEXT.audit.sinkColumns}>
      {all.map((sink) => (
        <tr key={sink.Name}>
          <th scope="row">{sink.Name}</th>
          <td>{sink.Path || sink.Type}</td>
          <td>{sink.Scope}</td>
          <td>{sink.DeliveryGuarantee}</td>
          <td>{sink.Seq}</td>
          <td>{sink.Dropped}</td>
          <td>{sink.Failing ? TEXT.audit.failing(sink.LastError) : TEXT.audit.writes}</td>
        </tr>
      ))}
    </Table>
  );
}

function Records({ all }: { all: readonly AuditRecord[] }) {
  return (
    <Table caption={TEXT.page.audit} label={TEXT.audit.table} columns={TEXT.audit.columns}>
      {all.map(({ created_at: time, payload }) => (
        <tr key={payload.id}>
          <td>
            <Time at={time} />
          </td>
          <td>
            <Who of={payload} />
          </td>
          <td>
            {payload.request.operation} {payload.request.endpoint}
          </td>
          <td>
            {payload.response.status}{' '}
            {payload.decision !== '' && (
              <Link to={['explain']} query={{ decision: payload.decision }}>
                {TEXT.audit.why}
              </Link>
            )}
          </td>
          <td>
            {payload.granted_by.map((grant) => (
              <div key={`${grant.right} ${grant.segment}`}>{TEXT.audit.grant(grant)}</div>
            ))}
          </td>
          <td>
            {payload.objects.map((object) => (
              <div key={`${object.type} ${object.id}`}>
                {`${object.action} ${object.type} ${object.name || object.id}`}
              </div>
            ))}
          </td>
          <td>{payload.reason}</td>
        </tr>
      ))}
    </Table>
  );
}

function Who({ of: { auth, request } }: { of: AuditRecord['payload'] }) {
  const { identity, description, accessor_id: accessor } = auth;
  const who = identity
    ? TEXT.history.identity(identity.subject, identity.auth_method)
    : description || accessor;
  return (
    <>
      {accessor === '' ? who : <Link to={['tokens', accessor]}>{who}</Link>}
      {request.remote_addr !== '' && <div class="quiet">{request.remote_addr}</div>}
    </>
  );
}
