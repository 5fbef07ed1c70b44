/** The newest versions of an object, on its own page. */
import { read } from '../api/client.js';
import { historyPath, type Versions } from '../api/history.js';
import type { ObjectType, Version } from '../objects/type.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { Panel } from '../parts/panel.js';
import { TEXT } from '../texts.js';
import { VersionLine } from './made.js';

/** Versions that are shown. */
const SHOWN = '3';

/** Who changed the object last, when and why. */
export function HistorySection({ type, of: { object, index } }: { type: ObjectType; of: Version }) {
  const id = type.idOf(object);
  const { value, problem } = useLoad(
    (signal) => {
      const how = { signal, query: { limit: SHOWN } };
      return read<Versions>(historyPath(type.ref, id), how);
    },
    [index],
  );
  return (
    <Panel title={TEXT.history.section} problem={problem}>
      {value !== undefined && (
        <>
          <ul>
            {value.Versions.map((version) => (
              <li key={version.Index}>
                <VersionLine version={version} />
              </li>
            ))}
          </ul>
          <Link to={['history', type.ref, ...id]}>{TEXT.history.all}</Link>
        </>
      )}
    </Panel>
  );
}
