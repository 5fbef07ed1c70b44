/** The hour in which a token or an auth method was used last. */
import type { MethodUse, TokenUse } from '../../api/endpoints/usage.js';
import { read } from '../api/client.js';
import { useLoad } from '../parts/load.js';
import { Term } from '../parts/table.js';
import { local, Time } from '../parts/time.js';
import { TEXT } from '../texts.js';

/** The last use as a line of a list of terms; nothing while it is not known. */
export function LastUsed({ path }: { path: string }) {
  const { value } = useLoad((signal) => read<MethodUse | TokenUse>(path, { signal }), [path]);
  if (value === undefined) return null;
  const { LastUsed: time, Since } = value;
  return (
    <Term name={TEXT.token.used}>
      {time === null ? TEXT.token.unused(local(new Date(Since))) : <Time at={time} />}
    </Term>
  );
}
