/** What lint finds in all that is stored. */

import type { Findings as ClusterFindings } from '../../api/endpoints/lint.js';
import { read } from '../api/client.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { namespace, place } from '../router.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';

/** Warnings that are shown at once. */
const SHOWN = 20;

/** Pages of objects by the type in a reference, if the reference holds their ID. */
const PAGES: Readonly<Record<string, string>> = {
  'auth-method': 'auth-methods',
  'binding-rule': 'binding-rules',
  namespace: 'namespaces',
  token: 'tokens',
};

function Reference({ to }: { to: string }) {
  const [type = '', ...rest] = to.split('/');
  const id = rest.at(-1) ?? '';
  if (type === 'policy') return <NamedLink slug="policies" name={id} to={to} />;
  if (type === 'role') return <NamedLink slug="roles" name={id} to={to} />;
  if (type === 'config') return <Link to={['config', ...rest.slice(1)]}>{to}</Link>;
  const slug = PAGES[type];
  if (slug === undefined) return <span>{to}</span>;
  return <Link to={[slug, id]}>{to}</Link>;
}

/** References name policies and roles, whose pages go by ID: the list finds them. */
const NamedLink = ({ slug, name, to }: { slug: string; name: string; to: string }) => (
  <Link to={[slug]} query={{ filter: `Name == ${JSON.stringify(name)}` }}>
    {to}
  </Link>
);

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
