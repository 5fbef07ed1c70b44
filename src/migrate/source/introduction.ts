/** What a source says about itself, before its objects are read. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Finding } from '../../api/migration-report.js';
import { finding } from '../report/findings.js';
import { type Asking, jsonOf, listOf } from './asking.js';
import { type SourceAnswer, SourceError, type SourceInfo } from './types.js';

type Introduction = Omit<SourceInfo, 'Indexes' | 'hasNamespaces'>;

/** The part of `agent/self` that matters here. Its place depends on the release. */
interface Self {
  readonly Config?: {
    readonly Version?: string;
    readonly Datacenter?: string;
    readonly PrimaryDatacenter?: string;
  };
  readonly DebugConfig?: {
    readonly ACLDefaultPolicy?: string;
    readonly ACLResolverSettings?: { readonly ACLDefaultPolicy?: string };
  };
}

/**
 * Asks a source who it is. Throws SourceError if it does not tell its datacenter, or if its tokens
 * are those of another one.
 */
export async function introduce(
  asking: Asking,
  fromSecondary: boolean,
  findings: Finding[],
): Promise<Introduction> {
  const answer = await asking.get('agent/self');
  const self = answer.status === 200 ? jsonOf<Self>('agent/self', answer) : {};
  const { Version, PrimaryDatacenter } = self.Config ?? {};
  const Datacenter = self.Config?.Datacenter ?? (await datacenterOf(asking));
  if (Datacenter === undefined) throw nowhere(answer);
  const primary = (await primaryOf(asking)) ?? PrimaryDatacenter ?? '';
  const isSecondary = primary !== '' && primary !== Datacenter;
  if (isSecondary && !fromSecondary) {
    throw new SourceError(
      `read the primary datacenter "${primary}": tokens of "${Datacenter}" are copies`,
      'use --from-secondary to move its local tokens alone',
    );
  }
  const policy =
    self.DebugConfig?.ACLResolverSettings?.ACLDefaultPolicy ??
    self.DebugConfig?.ACLDefaultPolicy ??
    (await policyOf(asking));
  const unknown = [
    ['version', Version],
    ['default policy', policy],
  ].flatMap(([what, value]) => (value === undefined ? [what] : []));
  if (unknown.length > 0) {
    const message = `the ${unknown.join(', ')} of the source cannot be read: agent:read is missing`;
    findings.push(finding('source', 'not_readable', message));
  }
  const openApi = await asking.get('openapi.json');
  return {
    isOurs: openApi.status === 200,
    Datacenter,
    ...(Version !== undefined && { Version }),
    ...((policy === 'allow' || policy === 'deny') && { DefaultPolicy: policy }),
  };
}

/** Returns the nearest datacenter, which is a server's own: Consul tells it without any right. */
async function datacenterOf(asking: Asking): Promise<string | undefined> {
  const path = 'catalog/datacenters';
  const answer = await asking.get(path);
  if (answer.status !== 200) return undefined;
  const [own] = listOf(path, answer) as readonly unknown[];
  return typeof own === 'string' ? own : undefined;
}

/** Returns the error of a source whose datacenter nothing tells. `answer`: that of `agent/self`. */
function nowhere({ status, text }: SourceAnswer): SourceError {
  if (status === 403 && /ACL not found/.test(text))
    return new SourceError('the source does not know the token');
  const why = status === 403 ? 'agent:read is missing' : `GET /v1/agent/self has status ${status}`;
  return new SourceError(`the datacenter of the source cannot be read: ${why}`);
}

/** Returns the datacenter from which ACL objects are copied; undefined if that is not said. */
async function primaryOf(asking: Asking): Promise<string | undefined> {
  const path = 'acl/replication';
  const answer = await asking.get(path);
  if (answer.status !== 200) return undefined;
  const said = jsonOf<{ Enabled?: boolean; SourceDatacenter?: string }>(path, answer);
  return said.Enabled === true ? said.SourceDatacenter : undefined;
}

/** Returns the default policy as a token's expanded read tells it to those with acl:read. */
async function policyOf(asking: Asking): Promise<string | undefined> {
  const path = `acl/token/${ANONYMOUS_ACCESSOR}`;
  const answer = await asking.get(path, { expanded: 'true' });
  if (answer.status !== 200) return undefined;
  return jsonOf<{ AgentACLDefaultPolicy?: string }>(path, answer).AgentACLDefaultPolicy;
}
