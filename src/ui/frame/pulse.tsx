/**
 * Asks every two seconds whether the node answers, whether there is a leader, and whether the
 * session still holds, so that no page goes on as if nothing had happened.
 */
import { read, SELF } from '../api/client.js';
import { useLive } from '../parts/load.js';
import { session } from '../session.js';
import { TEXT } from '../texts.js';

const LIVE = { everyMs: 2000, lateMs: 5000 };
/** How long the node may take. */
const PATIENCE_MS = 2000;

/** Returns the address of the leader; '' for none. A token that is gone ends the session. */
async function look(signal: AbortSignal): Promise<string> {
  const how = {
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    once: true,
    ns: '',
    isQuiet: true,
  };
  const own = session.get().token !== undefined && read(SELF, { ...how, query: { stale: 'true' } });
  const [leader] = await Promise.all([read<string>('/v1/status/leader', how), own]);
  return leader;
}

/** Says what keeps the page from being up to date. */
export function Pulse() {
  const { value, isLate, atMs } = useLive(look, LIVE);
  const problem = isLate
    ? TEXT.trouble.noAnswer(new Date(atMs).toLocaleTimeString())
    : value === ''
      ? TEXT.trouble.leaderless
      : undefined;
  return (
    <div role="alert" class={problem === undefined ? undefined : 'notice bad'}>
      {problem}
    </div>
  );
}
