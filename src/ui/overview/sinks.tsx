/** Whether the node that serves the page can write its audit records. */
import type { AuditSinks } from '../../api/endpoints/operator.js';
import { read } from '../api/client.js';
import { useLive } from '../parts/load.js';
import { TEXT } from '../texts.js';

const LIVE = { everyMs: 5000, lateMs: 15_000 };

/** The audit sinks in a line each; nothing without one, and for who may not read them. */
export function Sinks() {
  const { value, isLate } = useLive(
    (signal) => read<AuditSinks>('/v1/operator/audit', { signal, once: true, ns: '' }),
    LIVE,
  );
  if (value === undefined || value.Sinks.length === 0) return null;
  return (
    <section aria-labelledby="sinks">
      <h2 id="sinks">{TEXT.overview.sinks}</h2>
      <ul class={isLate ? 'late' : undefined}>
        {value.Sinks.map(({ Name, Failing, LastError }) => (
          <li key={Name} class={Failing ? 'error' : undefined}>
            <strong>{Name}</strong>: {Failing ? TEXT.audit.failing(LastError) : TEXT.audit.writes}
          </li>
        ))}
      </ul>
    </section>
  );
}
