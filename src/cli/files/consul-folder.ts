/**
 * The part of an export that Consul can load: the files of a folder, the calls that load them, and
 * what is left out, with the reason (moving-in.md 9).
 */
import { isUuid } from '../../acl/names.js';
import type { SetItem } from '../../api/endpoints/sets.js';
import { HIDDEN, isHidden } from '../../migrate/source/conversion.js';
import { call, ruleContent, templatesText } from './consul-script.js';
import { refOfItem } from './sets.js';

/** An object as a PUT would write it. */
type Body = Readonly<Record<string, unknown>>;

/** What is not loaded, and what to do about it. */
export interface Left {
  readonly ref: string;
  readonly lost: string;
  readonly act: string;
}

/** What is to be in a folder. */
export interface Content {
  readonly items: readonly SetItem[];
  /** Tokens with their secrets; undefined if none were asked for. */
  readonly tokens: readonly Body[] | undefined;
  readonly anonymous: Body;
  readonly nowMs: number;
}

/**
 * The order of types in the script. Namespaces come after the policies and roles of `default`, to
 * which they link, as all that needs an enterprise edition does.
 */
const TYPES = ['namespace', 'policy', 'role', 'auth-method', 'binding-rule'] as const;
/** How long a token of Consul may live, unless its servers are configured otherwise. */
const LIFE_MS = 86_400_000;
const ANY = 'default';

/** Returns a part of a path that no system takes for something else. */
export const safe = (part: string): string =>
  encodeURIComponent(part).replace(
    /^\.|[*'()!~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const textOf = (body: Body, name: string): string => String(body[name] ?? '');
const listOf = <T = Body>(body: Body, name: string): readonly T[] =>
  (body[name] as readonly T[] | null | undefined) ?? [];
const flag = (name: string, value: string): string[] => (value === '' ? [] : [`-${name}=${value}`]);

/** The folder that is made of an export. */
export class ConsulFolder {
  /** Texts of files by path. */
  readonly files = new Map<string, string>();
  readonly left: Left[] = [];
  /** What a Consul without namespaces does not take. */
  readonly leftByCommunity: Left[] = [];
  readonly calls: string[] = [];
  readonly enterpriseCalls: string[] = [];
  readonly #content: Content;
  readonly #withoutMethod = new Set<string>();

  constructor(content: Content) {
    this.#content = content;
    const { items, tokens } = content;
    const lists = new Map<string, Body[]>();
    for (const type of TYPES)
      for (const item of items)
        if (item.Type === type && this.#add(item)) {
          const list = lists.get(type) ?? [];
          list.push({ Namespace: item.Namespace, ...item.Object });
          lists.set(type, list);
        }
    for (const [file, type] of [
      ['namespaces', 'namespace'],
      ['policies', 'policy'],
      ['roles', 'role'],
      ['binding-rules', 'binding-rule'],
    ] as const)
      if (lists.has(type)) this.files.set(`${file}.json`, json(lists.get(type)));
    this.#addAnonymous(content.anonymous);
    if (tokens !== undefined) this.#addTokens(tokens);
    this.#addEntries(items.filter(({ Type }) => Type === 'config'));
  }

  #leave(ref: string, lost: string, act: string): false {
    this.left.push({ ref, lost, act });
    return false;
  }

  /** Adds a call, and tells what a Consul without namespaces leaves out. */
  #call(ref: string, namespace: string, line: string, isEnterprise = namespace !== ANY): true {
    (isEnterprise ? this.enterpriseCalls : this.calls).push(line);
    if (isEnterprise)
      this.leftByCommunity.push({ ref, lost: 'the whole object', act: 'it needs namespaces' });
    return true;
  }

  /** Adds an object. Returns whether it is loaded. */
  #add(item: SetItem): boolean {
    const { Type, Namespace = ANY, Object: body } = item;
    const ref = refOfItem(item);
    const ns = Namespace === ANY ? '' : Namespace;
    const name = textOf(body, 'Name');
    const place = `${safe(Namespace)}/${safe(name)}`;
    const described = flag('description', textOf(body, 'Description'));
    switch (Type) {
      case 'policy': {
        const file = `policies/${place}.hcl`;
        this.files.set(file, textOf(body, 'Rules'));
        const centers = listOf<string>(body, 'Datacenters').map((dc) => `-valid-datacenter=${dc}`);
        const line = call('policy', ns, name, `-rules=@${file}`, ...centers, ...described);
        return this.#call(ref, Namespace, line);
      }
      case 'role': {
        const file = `roles/${place}.hcl`;
        const granted = this.#granted(ref, file, body);
        return this.#call(ref, Namespace, call('role', ns, name, file, ...granted, ...described));
      }
      case 'namespace': {
        const file = `namespaces/${safe(name)}.json`;
        this.files.set(file, json(body));
        return this.#call(ref, name, call('namespace', name, file), true);
      }
      case 'auth-method':
        return this.#addMethod(item, ref, described);
      default:
        return this.#addRule(item, ref, described);
    }
  }

  /** Returns the flags of what a holder is granted. Its templated policies go into a file. */
  #granted(ref: string, file: string, body: Body): string[] {
    const templates = listOf(body, 'TemplatedPolicies').flatMap((one) => {
      const TemplateName = textOf(one, 'TemplateName');
      const isLimited = listOf(one, 'Datacenters').length > 0;
      const lost = `its templated policy ${TemplateName}, which holds in some datacenters alone`;
      // without its datacenters it would grant more
      if (isLimited) this.#leave(ref, lost, 'add it by the API: the command line cannot');
      const { name } = (one['TemplateVariables'] ?? {}) as { readonly name?: string };
      return isLimited ? [] : [{ TemplateName, name }];
    });
    this.files.set(file, templatesText(templates));
    const names = (member: string): string[] =>
      listOf(body, member)
        .map((link) => textOf(link, 'Name'))
        .filter((name) => name !== '');
    return [
      ...names('Policies').map((name) => `-policy-name=${name}`),
      ...names('Roles').map((name) => `-role-name=${name}`),
      ...listOf(body, 'ServiceIdentities').map((one) => {
        const centers = listOf<string>(one, 'Datacenters');
        const limit = centers.length === 0 ? '' : `:${centers.join(',')}`;
        return `-service-identity=${textOf(one, 'ServiceName')}${limit}`;
      }),
      ...listOf(body, 'NodeIdentities').map(
        (one) => `-node-identity=${textOf(one, 'NodeName')}:${textOf(one, 'Datacenter')}`,
      ),
    ];
  }

  #addMethod(
    { Namespace = ANY, Object: body }: SetItem,
    ref: string,
    described: string[],
  ): boolean {
    const [name, type] = [textOf(body, 'Name'), textOf(body, 'Type')];
    const leave = (act: string): false => {
      this.#withoutMethod.add(`${Namespace}/${name.toLowerCase()}`);
      return this.#leave(ref, 'the whole auth method', act);
    };
    if (type === 'oidc')
      return leave('its client secret is never shown, and only the enterprise edition takes oidc');
    const rules = listOf(body, 'NamespaceRules');
    if (rules.length > 1) return leave('the command line takes one namespace rule: use the API');
    const config: Record<string, unknown> = {};
    for (const [key, value] of Object.entries((body['Config'] ?? {}) as Body)) {
      const isOurs = key.toLowerCase() === 'identityclaim';
      if (isOurs)
        this.#leave(ref, `Config.${key}`, 'tokens of logins will not name who is behind them');
      else config[key] = value;
    }
    const member = (wanted: string): string => {
      const key = Object.keys(config).find((one) => one.toLowerCase() === wanted);
      return key === undefined ? '' : String(config[key]);
    };
    const file = `auth-methods/${safe(Namespace)}/${safe(name)}.json`;
    const certificate = file.replace(/json$/, 'pem');
    if (type === 'kubernetes') {
      const ServiceAccountJWT = member('serviceaccountjwt');
      if (ServiceAccountJWT === HIDDEN)
        return leave('it needs its ServiceAccountJWT: export --with-secrets, with acl:write');
      const CACert = member('cacert');
      this.files.set(certificate, CACert);
      this.files.set(file, json({ Host: member('host'), CACert, ServiceAccountJWT }));
    } else this.files.set(file, json(config));
    const ns = Namespace === ANY ? '' : Namespace;
    const flags = [
      ...flag('display-name', textOf(body, 'DisplayName')),
      ...flag('max-token-ttl', textOf(body, 'MaxTokenTTL')),
      ...flag('token-locality', textOf(body, 'TokenLocality')),
      ...flag('token-name-format', textOf(body, 'TokenNameFormat')),
      ...rules.flatMap((one) => [
        `-namespace-rule-bind-namespace=${textOf(one, 'BindNamespace')}`,
        ...flag('namespace-rule-selector', textOf(one, 'Selector')),
      ]),
      ...(type === 'kubernetes' ? [`-kubernetes-host=${member('host')}`] : []),
      ...described,
    ];
    const line = call('method', ns, name, type, file, certificate, ...flags);
    return this.#call(ref, Namespace, line, Namespace !== ANY || rules.length > 0);
  }

  #addRule({ Namespace = ANY, Object: body }: SetItem, ref: string, described: string[]): boolean {
    const method = textOf(body, 'AuthMethod');
    if (this.#withoutMethod.has(`${Namespace}/${method.toLowerCase()}`))
      return this.#leave(
        ref,
        'the whole binding rule',
        `it needs auth-method/${Namespace}/${method}`,
      );
    const { name } = (body['BindVars'] ?? {}) as { readonly name?: string };
    const flags = [
      `-bind-type=${textOf(body, 'BindType')}`,
      `-bind-name=${textOf(body, 'BindName')}`,
      ...(name === undefined ? [] : [`-bind-vars=Name=${name}`]),
      ...flag('selector', textOf(body, 'Selector')),
      ...described,
    ];
    const ns = Namespace === ANY ? '' : Namespace;
    return this.#call(ref, Namespace, call('rule', ns, method, ruleContent(body), ...flags));
  }

  #addAnonymous(body: Body): void {
    const file = 'tokens/anonymous.hcl';
    const granted = this.#granted('token/anonymous', file, body);
    const hasTemplates = listOf(body, 'TemplatedPolicies').length > 0;
    if (granted.length > 0 || hasTemplates)
      this.calls.push(call('anonymous', `-replace-templated-policy-file=${file}`, ...granted));
    else this.files.delete(file);
  }

  #addTokens(tokens: readonly Body[]): void {
    const kept: Body[] = [];
    for (const body of tokens) {
      const [id, secret] = [textOf(body, 'AccessorID'), textOf(body, 'SecretID')];
      const ref = `token/${id}`;
      const leave = (act: string): false => this.#leave(ref, 'the whole token', act);
      const method = textOf(body, 'AuthMethod');
      const ends = textOf(body, 'ExpirationTime');
      const endMs = ends === '' ? 0 : Date.parse(ends);
      if (method !== '') leave(`a login made it: its holder must log in again with ${method}`);
      else if (isHidden(secret)) leave('its secret is not shown: export with acl:write');
      else if (!isUuid(secret)) leave('its secret is not a UUID: create a new token');
      else if (endMs > this.#content.nowMs + LIFE_MS)
        leave(`it ends at ${ends}: Consul makes tokens that end within a day, or never`);
      else {
        const file = `tokens/${id}.hcl`;
        const granted = this.#granted(ref, file, body);
        const namespace = textOf(body, 'Namespace') || ANY;
        const end = endMs === 0 ? '' : String(Math.floor(endMs / 1000));
        const line = call(
          'token',
          namespace === ANY ? '' : namespace,
          id,
          file,
          String(body['Local'] === true),
          end,
          ...granted,
          ...flag('description', textOf(body, 'Description')),
        );
        this.#call(ref, namespace, line);
        kept.push({ AccessorID: id, SecretID: secret, ...body });
      }
    }
    const lines = kept.map((token) => JSON.stringify(token)).join(',\n');
    this.files.set('tokens.json', `[\n${lines}\n]\n`);
  }

  #addEntries(items: readonly SetItem[]): void {
    const byNamespace = new Map<string, string[]>();
    for (const item of items) {
      const { Namespace = ANY, Object: body } = item;
      const ref = refOfItem(item);
      const { Name: _only, ...nameless } = body;
      // The only entry of its kind has no name there.
      const text = json(body['Kind'] === 'mesh' ? nameless : body);
      if (text.includes(`"${HIDDEN}"`)) {
        this.#leave(
          ref,
          'the whole entry',
          'it has a secret: export --with-secrets, with the right to write it',
        );
        continue;
      }
      const [kind = '', ...name] = ref.split('/').slice(2);
      const file = `config/${safe(Namespace)}/${kind}/${safe(name.join('/'))}.json`;
      this.files.set(file, text);
      const isOfGateway = kind === 'api-gateway' || kind === 'http-route';
      const isEnterprise = Namespace !== ANY || (isOfGateway && /"JWT": \{/.test(text));
      const key = `${isEnterprise ? 'enterprise' : ''} ${Namespace}`;
      byNamespace.set(key, [...(byNamespace.get(key) ?? []), file]);
      if (isEnterprise) {
        const act = Namespace === ANY ? 'it has JWT members' : 'it needs namespaces';
        this.leftByCommunity.push({ ref, lost: 'the whole entry', act });
      }
    }
    for (const [key, files] of byNamespace) {
      const [edition, namespace = ''] = key.split(' ');
      const line = call('entries', namespace === ANY ? '' : namespace, ...files);
      (edition === '' ? this.calls : this.enterpriseCalls).push(line);
    }
  }
}
