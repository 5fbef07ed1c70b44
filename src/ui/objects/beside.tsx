/** What the pages of single objects show beside the form. */
import { respond } from '../api/client.js';
import type { Stored } from '../api/types.js';
import { readPage } from '../lists/array-reader.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { TEXT } from '../texts.js';
import type { Beside } from './edit-page.js';
import { TokenParts } from './token-parts.js';
import { TryRules } from './try-rules.js';

/** Objects of a list that are shown beside another one. */
const SHOWN = 10;

/** One list of what links an object. */
function Linked({
  title,
  list,
  query,
  slug,
  nameOf,
}: {
  title: string;
  list: string;
  query: Readonly<Record<string, string>>;
  slug: string;
  nameOf: (object: Stored) => string;
}) {
  const { value, problem } = useLoad(
    async (signal) => {
      const { body } = await respond(list, { query, signal });
      return readPage<Stored>(body!, 0, SHOWN);
    },
    [list, JSON.stringify(query)],
  );
  const { items = [], hasMore = false } = value ?? {};
  return (
    <section class="panel">
      <h2>{title}</h2>
      <ProblemNotice problem={problem} />
      {value !== undefined && items.length === 0 && <p>{TEXT.beside.none}</p>}
      <ul>
        {items.map((object) => {
          const id = String(object['ID'] ?? object['AccessorID']);
          return (
            <li key={id}>
              <Link to={[slug, id]}>{nameOf(object)}</Link>
            </li>
          );
        })}
        {hasMore && <li>{TEXT.beside.andMore}</li>}
      </ul>
    </section>
  );
}

const named = (object: Stored): string => String(object['Name']);
const described = (token: Stored): string => String(token['Description'] || token['AccessorID']);
const bound = (rule: Stored): string => `${rule['BindType']} ${rule['BindName']}`;

/** Who links a policy, and questions against its draft. */
export const besidePolicy: Beside = ({ version, form }) => (
  <>
    <TryRules rules={form['Rules'] ?? ''} />
    {version !== undefined && (
      <>
        <Linked
          title={TEXT.beside.roles}
          list="/v1/acl/roles"
          query={{ policy: String(version.object['ID']) }}
          slug="roles"
          nameOf={named}
        />
        <Linked
          title={TEXT.beside.tokens}
          list="/v1/acl/tokens"
          query={{ policy: String(version.object['ID']) }}
          slug="tokens"
          nameOf={described}
        />
      </>
    )}
  </>
);

/** The tokens that link a role. */
export const besideRole: Beside = ({ version }) =>
  version && (
    <Linked
      title={TEXT.beside.tokens}
      list="/v1/acl/tokens"
      query={{ role: String(version.object['ID']) }}
      slug="tokens"
      nameOf={described}
    />
  );

/** The binding rules of an auth method. */
export const besideMethod: Beside = ({ version }) =>
  version && (
    <Linked
      title={TEXT.page.bindingRules}
      list="/v1/acl/binding-rules"
      query={{ authmethod: String(version.object['Name']) }}
      slug="binding-rules"
      nameOf={bound}
    />
  );

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
