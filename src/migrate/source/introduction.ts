/** What a source says about itself, before its objects are read. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import type { Finding } from '../../api/migration-report.js';
import { finding } from '../report/findings.js';
import { type Asking, jsonOf } from './asking.js';
import { SourceError, type SourceInfo } from './types.js';

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

/** Asks a source who it is. Throws SourceError if its tokens are those of another datacenter. */
export async function introduce(
  asking: Asking,
  fromSecondary: boolean,
  findings: Finding[],
): Promise<Introduction> {
  const answer = await asking.get('agent/self');
  const self = answer.status === 200 ? jsonOf<Self>('agent/self', answer) : {};
  const { Version, Datacenter, PrimaryDatacenter } = self.Config ?? {};
  const primary = (await primaryOf(asking)) ?? PrimaryDatacenter ?? '';
  const isSecondary = primary !== '' && primary !== Datacenter;
  if (isSecondary && !fromSecondary) {
    const own = Datacenter ?? 'a secondary datacenter';
    throw new SourceError(
      `read the primary datacenter "${primary}": tokens of "${own}" are copies`,
      'use --from-secondary to move its local tokens alone',
    );
  }
  const policy =
    self.DebugConfig?.ACLResolverSettings?.ACLDefaultPolicy ??
    self.DebugConfig?.ACLDefaultPolicy ??
    (await policyOf(asking));
  const unknown = [
    ['version', Version],
    ['datacenter', Datacenter],
    ['default policy', policy],
  ].flatMap(([what, value]) => (value === undefined ? [what] : []));
  if (unknown.length > 0) {
    const message = `the ${unknown.join(', ')} of the source cannot be read: agent:read is missing`;
    findings.push(finding('source', 'not_readable', message));
  }
  const openApi = await asking.get('openapi.json');
  return {
    isOurs: openApi.status === 200,
    ...(Version !== undefined && { Version }),
    ...(Datacenter !== undefined && { Datacenter }),
    ...((policy === 'allow' || policy === 'deny') && { DefaultPolicy: policy }),
  };
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
