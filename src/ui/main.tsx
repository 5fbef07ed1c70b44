/** The web UI: chooses the page by the address. */
import { type ComponentChildren, render } from 'preact';
import { AuditPage } from './audit/page.js';
import { ChainPage } from './chain/page.js';
import { ConfigListPage } from './config/list-page.js';
import { configType } from './config/type.js';
import { DecisionsPage } from './decisions/page.js';
import { EventsPage } from './events/page.js';
import { LoginExplainPage } from './explain/login-page.js';
import { ExplainPage } from './explain/page.js';
import { WhoCanPage } from './explain/who-can-page.js';
import { Completing, LoginPage } from './frame/login.js';
import { Shell } from './frame/shell.js';
import { FeedPage } from './history/feed-page.js';
import { VersionsPage } from './history/versions-page.js';
import { IntentionsPage } from './intentions/page.js';
import { MigrationPage } from './migration/page.js';
import {
  besideEntry,
  besideMethod,
  besidePolicy,
  besideRole,
  besideToken,
} from './objects/beside.js';
import { type Beside, EditPage } from './objects/edit-page.js';
import { ListPage } from './objects/list-page.js';
import type { ObjectType } from './objects/type.js';
import {
  methodType,
  namespaceType,
  policyType,
  roleType,
  ruleType,
  tokenType,
} from './objects/types.js';
import { completeLogin, completing, logOut } from './oidc/login.js';
import { watchLogin } from './oidc/renewal.js';
import { OverviewPage } from './overview/page.js';
import { Link } from './parts/link.js';
import { Page } from './parts/page.js';
import { PlanPage } from './plan/page.js';
import { type Place, place } from './router.js';
import { session, watchIdle } from './session.js';
import { SettingsPage } from './settings/page.js';
import { useStore } from './store.js';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';
import './style/frame.css';
import { TEXT } from './texts.js';

/** The types of objects by the first segment of their pages, with what is beside their forms. */
const TYPES: readonly (readonly [type: ObjectType, beside?: Beside])[] = [
  [policyType, besidePolicy],
  [roleType, besideRole],
  [tokenType, besideToken],
  [methodType, besideMethod],
  [ruleType],
  [namespaceType],
];

const namespaceOf = ({ query }: Place): string => query.get('ns') ?? '';

/** Other pages by the first segment of their path. */
const PAGES: Readonly<Record<string, (at: Place) => ComponentChildren>> = {
  '': () => <OverviewPage />,
  audit: () => <AuditPage />,
  events: () => <EventsPage />,
  chains: (at) => <ChainPage at={at} key={at.parts.join('/')} />,
  config: (at) => configPage(at),
  decisions: (at) => <DecisionsPage key={namespaceOf(at)} />,
  explain: (at) => <ExplainPage at={at} key={at.visit} />,
  history: (at) =>
    at.parts.length > 2 ? <VersionsPage at={at} key={at.visit} /> : <FeedPage at={at} />,
  intentions: (at) => <IntentionsPage at={at} key={namespaceOf(at)} />,
  'login-explain': (at) => <LoginExplainPage key={namespaceOf(at)} />,
  migration: () => <MigrationPage />,
  plan: (at) => <PlanPage key={namespaceOf(at)} />,
  settings: () => <SettingsPage />,
  'who-can': (at) => <WhoCanPage key={namespaceOf(at)} />,
};

function configPage(at: Place) {
  const [, kind, ...name] = at.parts;
  if (!at.query.has('new') && name.length === 0)
    return <ConfigListPage key={`${namespaceOf(at)}/${kind ?? ''}`} at={at} />;
  const shown = at.query.has('new') ? '' : name.join('/');
  return <EditPage key={at.visit} type={configType(kind, shown)} at={at} beside={besideEntry} />;
}

function pageOf(at: Place): ComponentChildren {
  const [slug = '', id] = at.parts;
  const found = TYPES.find(([{ slug: of }]) => of === slug);
  if (found !== undefined) {
    const [type, beside] = found;
    if (id === undefined && !at.query.has('new'))
      return <ListPage key={`${namespaceOf(at)}/${slug}`} type={type} at={at} />;
    return <EditPage key={at.visit} type={type} at={at} {...(beside && { beside })} />;
  }
  return (Object.hasOwn(PAGES, slug) ? PAGES[slug]!(at) : undefined) ?? <UnknownPage />;
}

const UnknownPage = () => (
  <Page title={TEXT.shell.unknown}>
    <p>
      <Link to={[]}>{TEXT.page.overview}</Link>
    </p>
  </Page>
);

function App() {
  const at = useStore(place);
  const { isOpen } = useStore(session);
  const text = useStore(completing);
  if (text !== undefined) return <Completing>{text}</Completing>;
  return isOpen ? <Shell at={at}>{pageOf(at)}</Shell> : <LoginPage />;
}

const app = document.getElementById('app')!;
await watchIdle(Number(app.dataset['idle']), logOut);
watchLogin();
void completeLogin();
render(<App />, app);
