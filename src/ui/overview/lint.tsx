/** What lint finds in all that is stored. */

import type { Findings as ClusterFindings } from '../../api/endpoints/lint.js';
import { OBJECTS, type ObjectName } from '../../api/objects.js';
import { read } from '../api/client.js';
import { pageOf } from '../objects/linking.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { namespace, place } from '../router.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';

/** Warnings that are shown at once. */
const SHOWN = 20;

/** References name policies and roles, whose pages go by ID: the list finds them. */
function Reference({ to }: { to: string }) {
  const [type = '', ...rest] = to.split('/');
  const id = rest.at(-1) ?? '';
  if (type === 'config') return <Link to={['config', ...rest.slice(1)]}>{to}</Link>;
  const found = Object.entries(OBJECTS).find(([, { slug }]) => slug === type);
  if (found === undefined) return <span>{to}</span>;
  const [name, { isReadByName }] = found;
  const { slug } = pageOf(name as ObjectName);
  if (!isReadByName) return <Link to={[slug, id]}>{to}</Link>;
  return (
    <Link to={[slug]} query={{ filter: `Name == ${JSON.stringify(id)}` }}>
      {to}
    </Link>
  );
}

/** The warnings about the objects of the namespace. */
export function Warnings() {
  useStore(place);
  const { value, problem } = useLoad(
    (signal) => read<ClusterFindings>('/v1/acl/lint', { signal }),
    [namespace()],
  );
  const { Findings = [], More = 0 } = value ?? {};
  const hidden = Math.max(0, Findings.length - SHOWN) + More;
  return (
    <section aria-labelledby="warnings">
      <h2 id="warnings">{TEXT.overview.warnings}</h2>
      <ProblemNotice problem={problem} />
      {value !== undefined && Findings.length === 0 && <p>{TEXT.overview.noWarnings}</p>}
      <ul>
        {Findings.slice(0, SHOWN).map(({ Ref, Severity, Code, Message }) => (
          <li key={`${Ref} ${Code} ${Message}`} class={Severity}>
            <strong>
              {Severity} {Code}
            </strong>{' '}
            <Reference to={Ref} />: {Message}
          </li>
        ))}
        {hidden > 0 && <li>{TEXT.explain.more(hidden)}</li>}
      </ul>
    </section>
  );
}
