/** The sentence of an explanation. */
import { CLUSTER_WIDE } from './layer.js';
import type { Path, PathStep, Source } from './origins.js';
import type { Asked } from './reasons.js';
import { isScalar, type Level, type SpeakingRule, type Why } from './types.js';

/** A namespace, or the namespaces of a prefix, as answers show it. */
export interface ShownPlace {
  readonly Match: 'exact' | 'prefix';
  readonly Name: string;
}

/** A rule as answers show it. Null members: a link to a deleted object, whose rules are unknown. */
export interface ShownRule {
  readonly Resource: string | null;
  readonly Match: SpeakingRule['match'] | null;
  /** Absent for scalars. */
  readonly Name?: string;
  /** The block in which the rule stands, if it stands in one. */
  readonly NamespaceBlock?: ShownPlace;
  readonly Level: Level | null;
  readonly Rule: string | null;
  readonly Sources: readonly Source[];
  readonly MoreSources: number;
}
/** Characters of a name that the sentence quotes. The members beside it hold the whole name. */
const NAME_MAX = 128;
const quoted = (name: string): string =>
  JSON.stringify(name.length > NAME_MAX ? `${name.slice(0, NAME_MAX)}…` : name);

const KINDS: Readonly<Partial<Record<PathStep['Type'], string>>> = {
  'service-identity': 'service identity',
  'node-identity': 'node identity',
  'templated-policy': 'templated policy',
};

/** Returns one sentence that says how a question is decided and by what. */
export function sentenceOf(
  asked: Asked,
  why: Why,
  winner: ShownRule | null,
  anonymous: boolean,
): string {
  const head = `${questionText(asked)} is ${why.allow ? 'allowed' : 'denied'}`;
  if (winner === null) return `${head}${withoutRule(asked, why, anonymous)}`;
  const { Match, Name = '', Resource, NamespaceBlock: block } = winner;
  const rule =
    Match === 'scalar'
      ? Resource
      : `${Resource}${Match === 'prefix' ? '_prefix' : ''} ${quoted(Name)}`;
  const suffix = block?.Match === 'prefix' ? '_prefix' : '';
  const where = block === undefined ? '' : ` in the block namespace${suffix} ${quoted(block.Name)}`;
  const source = winner.Sources.find(({ Counts }) => Counts);
  const from = source === undefined ? '' : placeText(source.Path, source.Line);
  return `${head} by ${rule}${where}${from}${addition(asked, why)}`;
}

function questionText({ resource, access, segment, namespace }: Asked): string {
  const on = isScalar(resource) ? '' : ` on ${quoted(segment)}`;
  const isPlain = namespace === 'default' || resource === 'namespace' || CLUSTER_WIDE.has(resource);
  return `${resource}:${access}${on}${isPlain ? '' : ` in namespace ${quoted(namespace)}`}`;
}

function placeText(path: Path, line: number | null): string {
  const last = path.at(-1)!;
  const kind = KINDS[last.Type] ?? last.Type;
  const what = last.Type === 'draft' ? 'the draft' : `${kind} ${quoted(last.Name)}`;
  const role = path.find(({ Type }) => Type === 'role');
  const namespace = path.find(({ Type }) => Type === 'namespace');
  const byRole = role === undefined ? '' : `, by way of role ${quoted(role.Name)}`;
  const byDefault =
    namespace === undefined ? '' : `, by the defaults of namespace ${quoted(namespace.Name)}`;
  return ` in ${what}, line ${line}${byRole}${byDefault}`;
}

function withoutRule(
  { resource, access }: Asked,
  { allow, reason }: Why,
  anonymous: boolean,
): string {
  if (reason === 'never_by_default') {
    if (!anonymous || resource === 'acl')
      return ': no rule matches, and acl is never given by default';
    return access === 'write'
      ? ': the anonymous token never gets operator:write'
      : ': no rule matches, and the anonymous token gets no operator by default';
  }
  if (reason !== 'operator_or_any') return ' by the default policy: no rule matches';
  if (allow) return ' by the default policy: no rule covers the namespace';
  const any = access === 'read' ? ' and any right in it' : '';
  return `: no rule covers the namespace, and the token lacks operator:${access}${any}`;
}

/** What the rule alone does not say. */
function addition({ resource, access }: Asked, { reason, rule, allow }: Why): string {
  switch (reason) {
    case 'operator_rule':
      return `, because no ${resource} rule matches`;
    case 'service_rule':
      return `, whose level "${rule?.service}" gives "${rule?.level}" on intentions`;
    case 'any_service':
      return allow ? ', which is enough' : ', and no other rule allows it';
    case 'every_service':
      return allow ? ', and no other rule denies it' : '; every rule would have to allow it';
    case 'key_prefix':
      return allow ? ', and no rule below it denies it' : '';
    case 'operator_or_any':
      return `, because no rule covers the namespace${
        allow && rule?.resource !== 'operator' && access === 'read'
          ? ' and any right in it is enough'
          : ''
      }`;
    default:
      return '';
  }
}
