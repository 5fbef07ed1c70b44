/** The navigation: the pages in groups, with the rights that they need. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { ObjectName } from '../../api/objects.js';
import { question } from '../api/client.js';
import { pageOf } from '../objects/linking.js';
import { Icon } from '../parts/icon.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { namespace, type Place } from '../router.js';
import { session } from '../session.js';
import { TEXT } from '../texts.js';

/** A page of the navigation. */
export interface Entry {
  /** The first segment of its path. */
  readonly slug: string;
  readonly name: string;
  /** The right without which it shows nothing: resource and access. */
  readonly needs?: Right;
}

const RIGHTS = ['acl:read', 'operator:read'] as const;
type Right = (typeof RIGHTS)[number];

function linkTo(name: ObjectName): Entry {
  const { slug, title } = pageOf(name);
  return { slug, name: title, ...(name !== 'namespace' && { needs: 'acl:read' }) };
}

const { page } = TEXT;

/** The groups of the navigation. The first has no title. */
export const GROUPS: readonly { readonly title: string; readonly entries: readonly Entry[] }[] = [
  { title: '', entries: [{ slug: '', name: page.overview }] },
  {
    title: TEXT.shell.access,
    entries: [
      ...(['policy', 'role', 'token', 'method', 'rule'] as const).map(linkTo),
      { slug: 'login-explain', name: page.loginExplain, needs: 'acl:read' },
      { slug: 'explain', name: page.explain },
      { slug: 'who-can', name: page.whoCan, needs: 'acl:read' },
      { slug: 'decisions', name: page.decisions },
    ],
  },
  {
    title: TEXT.shell.configuration,
    entries: [
      { slug: 'config', name: page.config },
      { slug: 'chains', name: page.chains },
      { slug: 'intentions', name: page.intentions },
    ],
  },
  {
    title: TEXT.shell.cluster,
    entries: [
      linkTo('namespace'),
      { slug: 'history', name: page.history },
      { slug: 'audit', name: page.audit, needs: 'operator:read' },
      { slug: 'events', name: page.events },
      { slug: 'plan', name: page.plan },
      { slug: 'migration', name: page.migration },
      { slug: 'settings', name: page.settings, needs: 'operator:read' },
    ],
  },
];

/** Returns which of the rights that pages need the user lacks. */
export function useLacking(): ReadonlySet<string> {
  const { value } = useLoad(
    async (signal) => {
      const asked = RIGHTS.map((right) => {
        const [Resource, Access] = right.split(':');
        return { Resource, Access, Segment: '' };
      });
      const path = '/v1/internal/acl/authorize';
      const answers = await question<readonly { readonly Allow: boolean }[]>(path, asked, {
        signal,
      });
      return new Set<string>(RIGHTS.filter((_, nth) => answers[nth]?.Allow === false));
    },
    [session.get().token, namespace()],
  );
  return value ?? new Set();
}

/** The navigation. Where there is little room, a button opens it. */
export function Menu({ at, lacking }: { at: Place; lacking: ReadonlySet<string> }) {
  const [isOpen, setOpen] = useState(false);
  const [slug = ''] = at.parts;
  useLayoutEffect(() => setOpen(false), [at.visit]);
  return (
    <nav
      class={isOpen ? 'pages open' : 'pages'}
      aria-label={TEXT.shell.pages}
      onKeyDown={({ key }) => {
        if (key === 'Escape') setOpen(false);
      }}
    >
      <button
        type="button"
        class="opener"
        aria-expanded={isOpen}
        aria-controls="menu"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="menu" /> <span>{TEXT.shell.menu}</span>
      </button>
      <div id="menu">
        {GROUPS.map(({ title, entries }) => (
          <section key={title} aria-label={title || undefined}>
            {title !== '' && <h2>{title}</h2>}
            <ul>
              {entries.map(({ slug: path, name, needs = '' }) => (
                <li key={path}>
                  <Link to={path === '' ? [] : [path]} isCurrent={slug === path}>
                    <Icon name={path || 'overview'} />
                    <span>{name}</span>
                    {lacking.has(needs) && <Lock needs={needs} />}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}

const Lock = ({ needs }: { needs: string }) => (
  <span class="lock" title={TEXT.shell.lacks(needs)}>
    <Icon name="lock" />
    <span class="hidden">{TEXT.shell.lacks(needs)}</span>
  </span>
);
