/** What is around every page: header, navigation, and what keeps requests waiting. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ask, read, SELF } from '../api/client.js';
import type { Stored } from '../api/types.js';
import { readFirst } from '../lists/page.js';
import logo from '../logo.svg';
import { logOut } from '../oidc/login.js';
import { noteEnd } from '../oidc/renewal.js';
import { SessionEnd } from '../oidc/session-end.js';
import { Icon } from '../parts/icon.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { Trouble } from '../parts/notice.js';
import { go, hrefOf, namespace, type Place, place } from '../router.js';
import { endSession, keepIn, session } from '../session.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';
import { useKeys } from './keys.js';
import { Menu, useLacking } from './menu.js';
import { NewSecret } from './new-secret.js';
import { Pulse } from './pulse.js';

/** Namespaces that the header offers. Others are reached by their page. */
const NAMESPACES_MAX = 500;

/** The frame of a page. */
export function Shell({ at, children }: { at: Place; children: ComponentChildren }) {
  const { dialog, open } = useKeys();
  const lacking = useLacking();
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
        <NodeName />
        <NamespaceSelect at={at} />
        <button type="button" class="finder" onClick={() => open('palette')}>
          <Icon name="search" /> <span>{TEXT.palette.open}</span> <kbd>Ctrl K</kbd>
        </button>
        <WhoAmI hasPage={!lacking.has('acl:read')} />
      </header>
      <Menu at={at} lacking={lacking} />
      <main id="content" tabIndex={-1}>
        <NewSecret />
        <Pulse />
        <SessionEnd />
        <Trouble />
        {children}
      </main>
      {dialog}
    </>
  );
}

/** The node that answers, and its datacenter, as far as the user may know. */
function NodeName() {
  const { value } = useLoad(
    async (signal) => {
      const { Config } = await read<AgentSelf>('/v1/agent/self', { signal, once: true });
      return Config;
    },
    [session.get().token],
  );
  if (value === undefined) return null;
  return (
    <p class="node" title={TEXT.shell.nodeAbout}>
      {value.Datacenter} <span class="quiet">·</span> {value.NodeName}
    </p>
  );
}

interface AgentSelf {
  readonly Config: { readonly NodeName: string; readonly Datacenter: string };
}

function NamespaceSelect({ at }: { at: Place }) {
  const { value = [] } = useLoad(
    async (signal) => {
      const how = { signal, once: true, size: NAMESPACES_MAX };
      const { items } = await readFirst<{ readonly Name: string }>('/v1/namespaces', how);
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

/** Who uses the session. `hasPage`: whether they may see the page of their token. */
function WhoAmI({ hasPage }: { hasPage: boolean }) {
  const { token, login } = useStore(session);
  const { value: self } = useLoad(
    async (signal) => {
      if (token === undefined) return undefined;
      const { value, headers } = await ask<Stored>(SELF, { signal, ns: '' });
      noteEnd(value, headers.get('Date'));
      return value;
    },
    [token],
  );
  useEffect(() => {
    const ns = self?.['Namespace'];
    const { parts, query } = place.get();
    // What the server would choose by the token is shown, too.
    if (typeof ns === 'string' && ns !== 'default' && namespace() === '') {
      keepIn(ns);
      go(hrefOf(parts, { ...Object.fromEntries(query), ns }), { replace: true });
    }
  }, [self]);
  const leave = async (): Promise<void> => {
    const provider = await logOut();
    if (provider !== '') location.assign(provider);
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
        // The first page shows who they are, too.
        <Link to={hasPage ? ['tokens', accessor] : []} query={query}>
          {login?.subject || String(self['Description'] || accessor)}
        </Link>
      )}
      <button type="button" class="plain" onClick={() => void leave()}>
        {TEXT.login.logOut}
      </button>
    </div>
  );
}
