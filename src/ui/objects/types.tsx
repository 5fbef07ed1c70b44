/** Policies, roles, tokens, auth methods, binding rules and namespaces. */
import type { Link as LinkOf } from '../../api/links.js';
import { OBJECTS, type ObjectName } from '../../api/objects.js';
import type { Stored } from '../api/types.js';
import { METHOD_LAYOUTS } from '../forms/layouts.js';
import { Link } from '../parts/link.js';
import { SHORT, ShortId } from '../parts/short-id.js';
import { Time } from '../parts/time.js';
import { session } from '../session.js';
import { store } from '../store.js';
import { TEXT } from '../texts.js';
import { type AclType, aclType } from './acl-type.js';
import { type Control, fieldOf, type More } from './fields.js';
import { TEMPLATES } from './lines.js';
import { namespaceRight, pageOf, RULES } from './linking.js';
import { type Column, INDEX, type ObjectType } from './type.js';

/** What differs between the types beyond their tables. */
interface Given
  extends Partial<
    Pick<
      AclType,
      'lint' | 'nameOf' | 'onWritten' | 'facets' | 'facetOf' | 'isOfIdentities' | 'rightTo'
    >
  > {
  readonly columns: readonly string[];
  /** The fields that come first, in order. Those of all other members follow. */
  readonly first: readonly string[];
  /** Members that the form does not show, although a body may have them. */
  readonly hidden?: readonly string[];
  readonly more?: Readonly<Record<string, More>>;
}

/** Members of every type that a form never shows: only the server sets them. */
const SET_BY_SERVER = new Set([
  'ID',
  'AccessorID',
  'SecretID',
  'Namespace',
  'CreateIndex',
  'ModifyIndex',
]);

function objectType(name: ObjectName, given: Given): ObjectType {
  const { members, noun, path, listPath, identity, slug } = OBJECTS[name];
  const { first, hidden = [], more = {}, columns, ...rest } = given;
  const others = Object.entries(members)
    .filter(([key, { is, isComputed }]) => !isComputed && is !== 'time' && !SET_BY_SERVER.has(key))
    .map(([key]) => key)
    .filter((key) => !first.includes(key) && !hidden.includes(key));
  return aclType({
    right: name === 'namespace' ? 'operator:write' : 'acl:write',
    ...pageOf(name),
    ref: slug,
    noun,
    removal: TEXT.remove.about[name],
    empty: TEXT.empty[name],
    plural: listPath,
    singular: path,
    identity,
    columns: [...columns.map((key) => columnOf(name, key)), INDEX],
    fields: [...first, ...others].map((key) =>
      fieldOf(key, members[key]!, {
        ...(key === 'Name' && { isRequired: true as const }),
        ...(key === 'Name' && identity === 'Name' && { isFixed: true as const }),
        ...more[key],
      }),
    ),
    ...rest,
  });
}

/** What lists are sorted by to sort a column. Tokens have a description in place of a name. */
const SORTS: Readonly<Record<string, string>> = {
  Name: 'name',
  Description: 'name',
  CreateTime: 'created',
  ExpirationTime: 'expires',
};

function columnOf(name: ObjectName, key: string): Column {
  const { columns, lines, members } = OBJECTS[name];
  const { label = members[key]!.label, of = [key] } =
    [...columns, ...lines].find(({ of: [at] }) => at === key) ?? {};
  const { is, to } = members[key]!;
  return {
    title: label,
    sort: SORTS[key === 'Description' && name !== 'token' ? '' : key],
    cell(object) {
      if (key === 'AccessorID') return <ShortId id={String(object[key])} />;
      if (name === 'token' && key === 'Description')
        return String(object[key] || String(object['AccessorID']).slice(0, SHORT));
      if (is === 'links') return <Links links={object[key]} to={pageOf(to!).slug} />;
      if (is === 'time') return <Time at={object[key] as string | undefined} isShort />;
      const text = of.map((each) => object[each] ?? '').join(' ');
      if (name === 'rule' && key === 'AuthMethod')
        return <Link to={[pageOf('method').slug, text]}>{text}</Link>;
      return text;
    },
  };
}

const Links = ({ links, to }: { links: unknown; to: string }) => (
  <span class="links">
    {((links ?? []) as readonly LinkOf[]).map(({ ID = '', Name }) => (
      <Link key={ID} to={[to, ID]}>
        {Name ?? ID}
      </Link>
    ))}
  </span>
);

export const policyType = objectType('policy', {
  columns: ['Name', 'Description'],
  lint: { path: '/v1/acl/policy/lint', below: 'Rules' },
  first: ['Name', 'Description'],
  more: { Rules: { control: { type: 'rules' } } },
});

export const roleType = objectType('role', {
  columns: ['Name', 'Policies', 'Description'],
  first: ['Name', 'Description'],
});

/** The secret of the token that was made last: it is shown once. */
export const newSecret = store<{ readonly accessor: string; readonly secret: string } | undefined>(
  undefined,
);

session.watch(() => {
  if (!session.get().isOpen) newSecret.set(undefined);
});

/** Notes the secret of a token that the server has made. */
export function noteSecret(token: Stored): void {
  newSecret.set({ accessor: String(token['AccessorID']), secret: String(token['SecretID']) });
}

export const tokenType = objectType('token', {
  nameOf: (token) => String(token['Description'] || token['AccessorID']),
  onWritten(token) {
    if (token.CreateIndex === token.ModifyIndex) noteSecret(token);
  },
  columns: [
    'Description',
    'AccessorID',
    'Policies',
    'Roles',
    'AuthMethod',
    'CreateTime',
    'ExpirationTime',
  ],
  isOfIdentities: true,
  facetOf: { member: 'AuthMethod', label: TEXT.field.method, list: OBJECTS.method.listPath },
  facets: [
    { title: TEXT.list.ofLogins, filter: 'AuthMethod != ""' },
    { title: TEXT.list.madeByHand, filter: 'AuthMethod == ""' },
    { title: TEXT.list.expiring, filter: 'ExpirationTime != ""', sort: 'expires' },
  ],
  first: [
    'Description',
    'Policies',
    'Roles',
    'ServiceIdentities',
    'NodeIdentities',
    'TemplatedPolicies',
    'ExpirationTTL',
    'Local',
  ],
  hidden: ['AuthMethod'],
  more: {
    ExpirationTTL: {
      isOfNew: true,
      write(body, value) {
        if (value !== '') body['ExpirationTTL'] = value;
      },
    },
    Local: { isFixed: true },
  },
});

export const methodType = objectType('method', {
  columns: ['Name', 'Type', 'MaxTokenTTL', 'Description'],
  first: ['Name', 'Type', 'DisplayName', 'Description', 'MaxTokenTTL', 'Config', 'NamespaceRules'],
  hidden: ['TokenLocality'],
  more: {
    Type: { initial: 'jwt', isFixed: true },
    Config: {
      initial: '{\n  \n}',
      layoutOf: ({ Type = '' }) => METHOD_LAYOUTS[Type],
    },
  },
});

/** What a binding rule may bind by name, by its type. Services and nodes are not listed. */
const BOUND: Readonly<Record<string, Control>> = {
  role: { type: 'name', list: OBJECTS.role.listPath },
  policy: { type: 'name', list: OBJECTS.policy.listPath },
  'templated-policy': { type: 'offered', offers: TEMPLATES },
};

export const ruleType = objectType('rule', {
  nameOf: RULES.nameOf,
  columns: ['BindType', 'AuthMethod', 'Selector', 'Description'],
  lint: { path: '/v1/acl/binding-rule/lint', below: 'Selector' },
  first: ['AuthMethod', 'Selector', 'BindType', 'BindName', 'BindVars', 'Description'],
  more: {
    AuthMethod: {
      control: { type: 'name', list: OBJECTS.method.listPath },
      isFixed: true,
      isRequired: true,
    },
    Selector: { control: { type: 'area' } },
    BindType: { initial: 'role' },
    BindName: { isRequired: true, controlOf: ({ BindType = '' }) => BOUND[BindType] },
  },
});

/** Namespaces. Their defaults are objects of the namespace `default`. */
export const namespaceType = objectType('namespace', {
  rightTo: namespaceRight,
  columns: ['Name', 'Description'],
  first: ['Name', 'Description'],
});
