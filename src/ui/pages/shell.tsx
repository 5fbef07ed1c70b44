/** What is around every page: header, navigation, and what keeps requests waiting. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ObjectName } from '../../api/objects.js';
import { ask, read, SELF } from '../api/client.js';
import type { Stored } from '../api/types.js';
import { readItems } from '../lists/read-items.js';
import logo from '../logo.svg';
import { pageOf } from '../objects/linking.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { Trouble } from '../parts/notice.js';
import { go, hrefOf, namespace, type Place, place } from '../router.js';
import { endSession, logOut as logOutOfTab, session } from '../session.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';
import { NewSecret } from './new-secret.js';

function linkTo(name: ObjectName): readonly [slug: string, name: string] {
  const { slug, title } = pageOf(name);
  return [slug, title];
}

/** The pages in the order of the navigation: the first segment of the path, and the name. */
const PAGES: readonly (readonly [slug: string, name: string])[] = [
  ['', TEXT.page.overview],
  ...(['policy', 'role', 'token', 'method', 'rule'] as const).map(linkTo),
  ['login-explain', TEXT.page.loginExplain],
  ['explain', TEXT.page.explain],
  ['who-can', TEXT.page.whoCan],
  ['config', TEXT.page.config],
  ['chains', TEXT.page.chains],
  linkTo('namespace'),
  ['history', TEXT.page.history],
  ['plan', TEXT.page.plan],
];
/** Namespaces that the header offers. Others are reached by their page. */
const NAMESPACES_MAX = 500;

/** The frame of a page. */
export function Shell({ at, children }: { at: Place; children: ComponentChildren }) {
  const [slug = ''] = at.parts;
  return (
    <>
      <a class="skip" href="#content">
        {TEXT.shell.skip}
      </a>
      <header>
        <Link to={[]}>
          <img src={logo} alt="" width="28" height="28" />
          <span>{TEXT.shell.name}</span>
        </Link>
        <NamespaceSelect at={at} />
        <WhoAmI />
      </header>
      <nav class="pages" aria-label={TEXT.shell.pages}>
        <ul>
          {PAGES.map(([path, name]) => (
            <li key={path}>
              <Link to={path === '' ? [] : [path]} isCurrent={slug === path}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        <NewSecret />
        <Trouble />
        {children}
      </main>
    </>
  );
}

function NamespaceSelect({ at }: { at: Place }) {
  const { value = [] } = useLoad(
    async (signal) => {
      const how = { signal, once: true, size: NAMESPACES_MAX };
      const { items } = await readItems<{ readonly Name: string }>('/v1/namespaces', how);
      return items.map(({ Name }) => Name);
    },
    // Names may have changed on the pages of namespaces.
    [session.get().token, at.parts[0] === 'namespaces'],
  );
  const chosen = namespace();
  const shown = chosen === '' ? 'default' : chosen;
  const names = value.includes(shown) ? value : [shown, ...value];
  const choose = (ns: string): void => {
    // An object is of one namespace: its list is what both have.
    go(hrefOf(at.parts.slice(0, 1), { ns }));
  };
  return (
    <label class="namespace">
      <span>{TEXT.shell.namespace}</span>
      <select value={shown} onChange={(event) => choose(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function WhoAmI() {
  const { token } = useStore(session);
  const { value: self } = useLoad(
    async (signal) => (token === undefined ? undefined : read<Stored>(SELF, { signal, ns: '' })),
    [token],
  );
  useEffect(() => {
    const ns = self?.['Namespace'];
    const { parts, query } = place.get();
    // What the server would choose by the token is shown, too.
    if (typeof ns === 'string' && ns !== 'default' && namespace() === '')
      go(hrefOf(parts, { ...Object.fromEntries(query), ns }), { replace: true });
  }, [self]);
  const logOut = async (): Promise<void> => {
    if (self?.['AuthMethod'] !== undefined)
      await ask('/v1/acl/logout', { method: 'POST', once: true }).catch(() => undefined);
    logOutOfTab();
  };
  if (token === undefined)
    return (
      <button type="button" class="plain" onClick={() => endSession()}>
        {TEXT.login.logIn}
      </button>
    );
  const accessor = String(self?.['AccessorID'] ?? '');
  const own = String(self?.['Namespace'] ?? 'default');
  const query = own === (namespace() || 'default') ? {} : { ns: own };
  return (
    <div class="who">
      {self !== undefined && (
        <Link to={['tokens', accessor]} query={query}>
          {String(self['Description'] || accessor)}
        </Link>
      )}
      <button type="button" class="plain" onClick={logOut}>
        {TEXT.login.logOut}
      </button>
    </div>
  );
}
