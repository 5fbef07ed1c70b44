/** What the pages of single objects show beside the form. */
import type { Stored } from '../api/types.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { Panel } from '../parts/panel.js';
import { useMay } from '../parts/rights.js';
import { Scroll } from '../parts/table.js';
import type { Query } from '../router.js';
import { TEXT } from '../texts.js';
import type { Beside } from './edit-page.js';
import { Blocks } from './identity.js';
import { LastUsed } from './last-used.js';
import { type Linking, linkedTo, ROLES, RULES, tokensBy } from './linking.js';
import { TokenParts } from './token-parts.js';
import { TryJwt } from './try-jwt.js';
import { TryRules } from './try-rules.js';
import type { Version } from './type.js';

/** Objects of a list that are shown beside another one. */
const SHOWN = 10;

/** The first of the objects that link another one. `ns`: the namespace of both. */
export function Linked({
  by: linking,
  of: { object },
  ns,
}: {
  by: Linking;
  of: { readonly object: Record<string, unknown> };
  ns?: string;
}) {
  const { title, list, slug, by, field, noun, nameOf } = linking;
  const { value, problem } = useLoad(
    (signal) => linkedTo(linking, object, { size: SHOWN, signal, ns }),
    [list, object[by[1]]],
  );
  const { items = [], total = 0 } = value ?? {};
  return (
    <Panel title={title} problem={problem}>
      {value !== undefined && items.length === 0 && <p>{TEXT.beside.none}</p>}
      <ul>
        {items.map((each) => {
          const id = String(each['ID'] ?? each['AccessorID']);
          return (
            <li key={id}>
              <Link to={[slug, id]} query={{ ns }}>
                {nameOf(each)}
              </Link>
            </li>
          );
        })}
        {total > items.length && <li>{TEXT.beside.andMore(total - items.length)}</li>}
      </ul>
      <MakeLink to={slug} noun={noun} given={{ [field]: String(object['Name']), ns }} />
    </Panel>
  );
}

/** Leads to the form of a new object that links this one, if the user may make it. */
function MakeLink({ to, noun, given }: { to: string; noun: string; given: Query }) {
  if (useMay('acl:write') !== true) return null;
  return (
    <Link to={[to]} query={{ new: '', ...given }} kind="button">
      {TEXT.list.create(noun)}
    </Link>
  );
}

/** Shows lists of what links an object that is stored. */
const linkedBy =
  (...lists: readonly Linking[]): Beside =>
  ({ version }) =>
    version && lists.map((each) => <Linked key={each.list} by={each} of={version} />);

const linkPolicy = linkedBy(ROLES, tokensBy('policy'));

/** Who links a policy, and questions against its draft. */
export const besidePolicy: Beside = (shown) => (
  <>
    <TryRules rules={shown.form['Rules'] ?? ''} />
    {linkPolicy(shown)}
  </>
);

/** The tokens that link a role. */
export const besideRole: Beside = linkedBy(tokensBy('role'));

const linkMethod = linkedBy(RULES);

/** How to log in by an auth method, and its binding rules. */
export const besideMethod: Beside = (shown) =>
  shown.version && (
    <>
      <Panel title={TEXT.beside.logIn}>
        <dl>
          <LastUsed path={`/v1/acl/auth-method/${shown.version.object['Name']}/usage`} />
        </dl>
        <p>{isOidc(shown.version) ? TEXT.oidc.commandAbout : TEXT.beside.logInAbout}</p>
        <Scroll label={TEXT.beside.command} kind="command">
          <pre>{loginCommand(shown.version.object)}</pre>
        </Scroll>
        <Link to={['login-explain']}>{TEXT.beside.tryLogin}</Link>
      </Panel>
      <TryJwt method={String(shown.version.object['Name'])} />
      <Blocks method={String(shown.version.object['Name'])} />
      {linkMethod(shown)}
    </>
  );

const isOidc = ({ object }: Version): boolean => object['Type'] === 'oidc';

/** The command that logs in by a method. Its name is of letters that no shell interprets. */
function loginCommand({ Name, Type, Namespace = 'default' }: Stored): string {
  const ns = Namespace === 'default' ? '' : ` --namespace ${Namespace}`;
  const type = Type === 'jwt' ? '' : ` --type ${Type}`;
  if (Type === 'oidc') return `conclave login --method ${Name}${type}${ns}`;
  const files = `--bearer-token-file ${Name}.jwt --token-sink-file ${Name}.token`;
  return `conclave login --method ${Name}${type}${ns} \\\n  ${files}`;
}

/** The secret of a new token, what is known of a token, and its rights. */
export const besideToken: Beside = ({ version }) =>
  version && <TokenParts token={version.object} />;

/** The chain of the service that an entry is about. */
export const besideEntry: Beside = ({ version }) => {
  if (version === undefined) return undefined;
  const { Kind, Name } = version.object;
  if (!/^service-(defaults|router|splitter|resolver)$/.test(String(Kind))) return undefined;
  return (
    <p>
      <Link to={['chains', String(Name)]}>{TEXT.chain.title(String(Name))}</Link>
    </p>
  );
};
