/**
 * A stand-in of the `consul` command, as far as load.sh uses it: the same subcommands and flags,
 * and no others; JSON as Go writes it; calls of the API of a node. `node fake-consul.js ARGUMENTS`.
 */
import { readFileSync } from 'node:fs';
import { escapeHtml } from '../../src/languages/json.js';

type Body = Record<string, unknown>;

const { CONSUL_HTTP_ADDR: address = '', CONSUL_HTTP_TOKEN: token = '', COMMUNITY } = process.env;

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}

async function ask(method: string, path: string, ns: string, body?: unknown): Promise<Body> {
  const answer = await fetch(`http://${address}/v1/${path}${ns === '' ? '' : `?ns=${ns}`}`, {
    method,
    headers: { 'X-Consul-Token': token },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) fail(`Unexpected response code: ${answer.status} (${text.trim()})`);
  return JSON.parse(text) as Body;
}

const GRANTS = 'policy-name role-name service-identity node-identity description';
const METHOD =
  'config kubernetes-ca-cert kubernetes-host kubernetes-service-account-jwt display-name ' +
  'description max-token-ttl token-locality token-name-format namespace-rule-selector ' +
  'namespace-rule-bind-namespace';
/** The flags of each command, besides `namespace`. */
const COMMANDS: Readonly<Record<string, string>> = {
  'namespace list': '',
  'namespace write': '',
  'config write': '',
  'acl policy read': 'name',
  'acl policy create': 'name description rules valid-datacenter',
  'acl policy update': 'name description rules valid-datacenter no-merge',
  'acl role read': 'name format',
  'acl role create': `name templated-policy-file ${GRANTS}`,
  'acl role update': `name id no-merge replace-templated-policy-file ${GRANTS}`,
  'acl auth-method read': 'name',
  'acl auth-method create': `name type ${METHOD}`,
  'acl auth-method update': `name ${METHOD}`,
  'acl binding-rule list': 'method format',
  'acl binding-rule create': 'method bind-type bind-name bind-vars selector description',
  'acl token read': 'accessor-id',
  'acl token create': `accessor secret local expires-ttl templated-policy-file ${GRANTS}`,
  'acl token update': `accessor-id replace-templated-policy-file ${GRANTS}`,
};

const words = process.argv.slice(2);
const first = words.findIndex((word) => word.startsWith('-') || word.includes('/'));
const command = words.slice(0, first < 0 ? undefined : first).join(' ');
const known = COMMANDS[command]?.split(' ');
if (known === undefined) fail(`no command ${command}`);
const flags = new Map<string, string[]>();
const files: string[] = [];
for (const word of words.slice(first < 0 ? words.length : first)) {
  const [, name, value = 'true'] = /^-([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === undefined) files.push(word);
  else if (name !== 'namespace' && !known.includes(name)) fail(`no flag -${name}: ${command}`);
  else flags.set(name, [...(flags.get(name) ?? []), value]);
}
const all = (name: string): string[] => flags.get(name) ?? [];
const one = (name: string): string => all(name)[0] ?? '';
const loaded = (value: string): string =>
  value.startsWith('@') ? readFileSync(value.slice(1), 'utf8') : value;
const ns = one('namespace');
const file = (): string => readFileSync(files[0]!, 'utf8');
const go = (value: unknown): void => console.log(escapeHtml(JSON.stringify(value, null, 4)));
const links = (name: string): Body[] => all(name).map((Name) => ({ Name }));

function templates(): Body[] {
  const path = one('templated-policy-file') || one('replace-templated-policy-file');
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/^TemplatedPolicy "(.*?)" \{(?: Name = (".*") )?\}$/gm)].map(
    ([, TemplateName, name]) => ({
      TemplateName,
      ...(name !== undefined && { TemplateVariables: { Name: JSON.parse(name) } }),
    }),
  );
}

const granted = (): Body => ({
  Policies: links('policy-name'),
  ServiceIdentities: all('service-identity').map((text) => {
    const [ServiceName, centers] = text.split(':');
    return { ServiceName, ...(centers !== undefined && { Datacenters: centers.split(',') }) };
  }),
  NodeIdentities: all('node-identity').map((text) => {
    const [NodeName, Datacenter] = text.split(':');
    return { NodeName, Datacenter };
  }),
  TemplatedPolicies: templates(),
  Description: one('description'),
});

const policy = (): Body => ({
  Name: one('name'),
  Description: one('description'),
  Rules: loaded(one('rules')),
  ...(flags.has('valid-datacenter') && { Datacenters: all('valid-datacenter') }),
});

function method(Type: string): Body {
  const bind = one('namespace-rule-bind-namespace');
  const kubernetes = {
    Host: one('kubernetes-host'),
    CACert: loaded(one('kubernetes-ca-cert')),
    ServiceAccountJWT: one('kubernetes-service-account-jwt'),
  };
  return {
    Name: one('name'),
    Type,
    Config: Type === 'kubernetes' ? kubernetes : JSON.parse(loaded(one('config'))),
    DisplayName: one('display-name'),
    Description: one('description'),
    MaxTokenTTL: one('max-token-ttl'),
    ...(flags.has('token-locality') && { TokenLocality: one('token-locality') }),
    ...(flags.has('token-name-format') && { TokenNameFormat: one('token-name-format') }),
    ...(bind !== '' && {
      NamespaceRules: [{ Selector: one('namespace-rule-selector'), BindNamespace: bind }],
    }),
  };
}

/** Returns a rule with its members in the order in which Go writes them. */
const asGo = ({ BindVars, ...rule }: Body): Body => ({
  ID: rule['ID'],
  Description: rule['Description'],
  AuthMethod: rule['AuthMethod'],
  Selector: rule['Selector'] ?? '',
  BindType: rule['BindType'],
  BindName: rule['BindName'],
  ...(BindVars !== undefined && { BindVars: { Name: (BindVars as { name: string }).name } }),
  CreateIndex: rule['CreateIndex'],
  ModifyIndex: rule['ModifyIndex'],
});

function rule(): Body {
  const [, Name] = /^Name=(.*)$/s.exec(one('bind-vars')) ?? [];
  return {
    AuthMethod: one('method'),
    BindType: one('bind-type'),
    BindName: one('bind-name'),
    Selector: one('selector'),
    Description: one('description'),
    ...(Name !== undefined && { BindVars: { Name } }),
  };
}

const byName = (type: string): Promise<Body> =>
  ask('GET', `acl/${type}/${type === 'auth-method' ? '' : 'name/'}${one('name')}`, ns);

async function run(): Promise<unknown> {
  switch (command) {
    case 'namespace list':
      return COMMUNITY === undefined ? ask('GET', 'namespaces', '') : fail('404');
    case 'namespace write': {
      const body = JSON.parse(file()) as { Name: string };
      return ask('PUT', `namespace/${body.Name}`, '', body);
    }
    case 'config write': {
      const { Kind, Name } = JSON.parse(file()) as Body;
      if (Kind === 'mesh' && Name !== undefined) fail('invalid config key "Name"');
      return ask('PUT', 'config', ns, file());
    }
    case 'acl policy create':
      return ask('PUT', 'acl/policy', ns, policy());
    case 'acl policy update':
      return ask('PUT', `acl/policy/${(await byName('policy'))['ID']}`, ns, policy());
    case 'acl role create':
      return ask('PUT', 'acl/role', ns, { Name: one('name'), ...granted() });
    case 'acl role update':
      return ask('PUT', `acl/role/${one('id')}`, ns, { Name: one('name'), ...granted() });
    case 'acl role read':
      return go(await byName('role'));
    case 'acl policy read':
      return byName('policy');
    case 'acl auth-method read':
      return byName('auth-method');
    case 'acl auth-method create':
      return ask('PUT', 'acl/auth-method', ns, method(one('type')));
    case 'acl auth-method update': {
      const { Type } = await byName('auth-method');
      return ask('PUT', `acl/auth-method/${one('name')}`, ns, method(String(Type)));
    }
    case 'acl binding-rule list': {
      const rules = (await ask('GET', 'acl/binding-rules', ns)) as unknown as Body[];
      const own = rules.filter(({ AuthMethod }) => AuthMethod === one('method'));
      return go(own.map(asGo));
    }
    case 'acl binding-rule create':
      return ask('PUT', 'acl/binding-rule', ns, rule());
    case 'acl token read':
      return ask('GET', `acl/token/${one('accessor-id')}`, ns);
    case 'acl token create':
      return ask('PUT', 'acl/token', ns, {
        AccessorID: one('accessor'),
        SecretID: one('secret'),
        Local: one('local') === 'true',
        ...(flags.has('expires-ttl') && { ExpirationTTL: one('expires-ttl') }),
        ...granted(),
        Roles: links('role-name'),
      });
    default: {
      const before = await ask('GET', `acl/token/${one('accessor-id')}`, ns);
      const body = { ...before, ...granted(), Roles: links('role-name') };
      return ask('PUT', `acl/token/${one('accessor-id')}`, ns, body);
    }
  }
}

await run();
