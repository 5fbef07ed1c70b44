/** Policies, roles, tokens, auth methods, binding rules and namespaces. */
import type { Link as LinkOf, Stored } from '../api/types.js';
import { Link } from '../parts/link.js';
import { Time } from '../parts/time.js';
import { session } from '../session.js';
import { store } from '../store.js';
import { TEXT } from '../texts.js';
import { aclType } from './acl-type.js';
import { check, GRANTS, json, links, text } from './fields.js';
import { linesOf } from './lines.js';
import { ROLES as LINKING_ROLES, RULES, tokensBy } from './linking.js';
import type { Column, ObjectType } from './type.js';

const POLICIES = '/v1/acl/policies';
const ROLES = '/v1/acl/roles';
const METHODS = '/v1/acl/auth-methods';

const plain = (title: string, member: string): Column => ({
  title,
  cell: (object) => String(object[member] ?? ''),
});
const linked = (title: string, member: string, slug: string): Column => ({
  title,
  cell: (object) => (
    <span class="links">
      {((object[member] ?? []) as readonly LinkOf[]).map(({ ID = '', Name }) => (
        <Link key={ID} to={[slug, ID]}>
          {Name ?? ID}
        </Link>
      ))}
    </span>
  ),
});
const name = text('Name', TEXT.field.name);
const description = text('Description', TEXT.field.description);
const descriptions = plain(TEXT.field.description, 'Description');

/** Policies. */
export const policyType: ObjectType = aclType({
  slug: 'policies',
  title: TEXT.page.policies,
  noun: TEXT.noun.policy,
  removal: { about: TEXT.remove.about.policy, linked: [LINKING_ROLES, tokensBy('policy')] },
  empty: TEXT.empty.policies,
  right: 'acl:write',
  plural: POLICIES,
  singular: '/v1/acl/policy',
  identity: 'ID',
  columns: [plain(TEXT.field.name, 'Name'), descriptions],
  searched: ['Name', 'Description'],
  lint: { path: '/v1/acl/policy/lint', below: 'Rules' },
  fields: [
    name,
    description,
    text('Rules', TEXT.field.rules, { type: 'rules' }, { help: TEXT.help.rules }),
    {
      ...text('Datacenters', TEXT.field.datacenters, { type: 'lines' }),
      help: TEXT.help.datacenters,
      read: (object) => ((object['Datacenters'] ?? []) as readonly string[]).join('\n'),
      write(body, value) {
        const all = linesOf(value);
        if (all.length > 0 || body['Datacenters'] !== undefined) body['Datacenters'] = all;
      },
    },
  ],
});

/** Roles. */
export const roleType: ObjectType = aclType({
  slug: 'roles',
  title: TEXT.page.roles,
  noun: TEXT.noun.role,
  removal: { about: TEXT.remove.about.role, linked: [tokensBy('role')] },
  empty: TEXT.empty.roles,
  right: 'acl:write',
  plural: ROLES,
  singular: '/v1/acl/role',
  identity: 'ID',
  columns: [
    plain(TEXT.field.name, 'Name'),
    linked(TEXT.field.policies, 'Policies', 'policies'),
    descriptions,
  ],
  searched: ['Name', 'Description'],
  fields: [name, description, links('Policies', TEXT.field.policies, POLICIES), ...GRANTS],
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

/** Tokens. */
export const tokenType: ObjectType = aclType({
  slug: 'tokens',
  title: TEXT.page.tokens,
  noun: TEXT.noun.token,
  removal: { about: TEXT.remove.about.token },
  empty: TEXT.empty.tokens,
  right: 'acl:write',
  plural: '/v1/acl/tokens',
  singular: '/v1/acl/token',
  identity: 'AccessorID',
  onWritten(token) {
    if (token.CreateIndex === token.ModifyIndex) noteSecret(token);
  },
  columns: [
    plain(TEXT.field.accessor, 'AccessorID'),
    descriptions,
    linked(TEXT.field.policies, 'Policies', 'policies'),
    linked(TEXT.field.roles, 'Roles', 'roles'),
    plain(TEXT.field.method, 'AuthMethod'),
    {
      title: TEXT.field.expires,
      cell: (token) => <Time at={token['ExpirationTime'] as string | undefined} />,
    },
  ],
  searched: ['AccessorID', 'Description', 'AuthMethod'],
  fields: [
    description,
    links('Policies', TEXT.field.policies, POLICIES),
    links('Roles', TEXT.field.roles, ROLES),
    ...GRANTS,
    {
      ...text('ExpirationTTL', TEXT.field.ttl, { type: 'text' }, { help: TEXT.help.ttl }),
      isOfNew: true,
      write(body, value) {
        if (value !== '') body['ExpirationTTL'] = value;
      },
    },
    check('Local', TEXT.field.local, { help: TEXT.help.local, isFixed: true }),
  ],
});

/** Auth methods. */
export const methodType: ObjectType = aclType({
  slug: 'auth-methods',
  title: TEXT.page.methods,
  noun: TEXT.noun.method,
  removal: { about: TEXT.remove.about.method, linked: [RULES, tokensBy('authmethod', 'Name')] },
  empty: TEXT.empty.methods,
  right: 'acl:write',
  plural: METHODS,
  singular: '/v1/acl/auth-method',
  identity: 'Name',
  columns: [
    plain(TEXT.field.name, 'Name'),
    plain(TEXT.field.type, 'Type'),
    plain(TEXT.field.maxTtl, 'MaxTokenTTL'),
    descriptions,
  ],
  searched: ['Name', 'Description'],
  fields: [
    { ...name, isFixed: true },
    text(
      'Type',
      TEXT.field.type,
      { type: 'select', options: ['jwt', 'kubernetes'] },
      { initial: 'jwt', isFixed: true },
    ),
    text('DisplayName', TEXT.field.displayName),
    description,
    text('MaxTokenTTL', TEXT.field.maxTtl, { type: 'text' }, { help: TEXT.help.maxTtl }),
    json('Config', TEXT.field.config, { initial: '{\n  \n}', help: TEXT.help.config }),
    json('NamespaceRules', TEXT.field.namespaceRules, { help: TEXT.help.namespaceRules }),
  ],
});

/** Binding rules. */
export const ruleType: ObjectType = aclType({
  slug: 'binding-rules',
  title: TEXT.page.bindingRules,
  noun: TEXT.noun.bindingRule,
  removal: { about: TEXT.remove.about.bindingRule },
  empty: TEXT.empty.bindingRules,
  right: 'acl:write',
  plural: '/v1/acl/binding-rules',
  singular: '/v1/acl/binding-rule',
  identity: 'ID',
  nameOf: (rule) => `${rule['BindType']} ${rule['BindName']}`,
  columns: [
    {
      title: TEXT.field.binds,
      cell: (rule) => `${rule['BindType']} ${rule['BindName']}`,
    },
    {
      title: TEXT.field.method,
      cell: (rule) => (
        <Link to={['auth-methods', String(rule['AuthMethod'])]}>{String(rule['AuthMethod'])}</Link>
      ),
    },
    plain(TEXT.field.selector, 'Selector'),
    descriptions,
  ],
  searched: ['AuthMethod', 'BindName', 'Description', 'ID'],
  lint: { path: '/v1/acl/binding-rule/lint', below: 'Selector' },
  fields: [
    {
      ...text('AuthMethod', TEXT.field.method, { type: 'name', list: METHODS }),
      isFixed: true,
    },
    text('Selector', TEXT.field.selector, { type: 'area' }, { help: TEXT.help.selector }),
    text(
      'BindType',
      TEXT.field.bindType,
      { type: 'select', options: ['role', 'policy', 'service', 'node', 'templated-policy'] },
      { initial: 'role' },
    ),
    text('BindName', TEXT.field.bindName, { type: 'text' }, { help: TEXT.help.bindName }),
    json('BindVars', TEXT.field.bindVars, { help: TEXT.help.bindVars }),
    description,
  ],
});

/** Namespaces. Their defaults are objects of the namespace `default`. */
export const namespaceType: ObjectType = aclType({
  slug: 'namespaces',
  title: TEXT.page.namespaces,
  noun: TEXT.noun.namespace,
  removal: { about: TEXT.remove.about.namespace },
  empty: TEXT.empty.namespaces,
  right: undefined,
  plural: '/v1/namespaces',
  singular: '/v1/namespace',
  identity: 'Name',
  columns: [plain(TEXT.field.name, 'Name'), descriptions],
  searched: ['Name', 'Description'],
  fields: [
    { ...name, isFixed: true },
    description,
    links('PolicyDefaults', TEXT.field.policyDefaults, POLICIES, {
      namespace: 'default',
      within: 'ACLs',
    }),
    links('RoleDefaults', TEXT.field.roleDefaults, ROLES, { namespace: 'default', within: 'ACLs' }),
    json('Meta', TEXT.field.meta, { help: TEXT.help.meta }),
  ],
});
