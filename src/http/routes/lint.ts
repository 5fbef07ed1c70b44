/** Routes of lint: of policies, of binding rules, and of all that is stored. */
import { POLICY_LINT, RULE_LINT } from '../../api/endpoints/lint.js';
import type { Type } from '../../languages/fields.js';
import type { ReadOutcome, StateRead } from '../../service/common/types.js';
import { maySomewhere } from '../../service/common/writing.js';
import { clusterLint, severityOf } from '../../service/lint/cluster-lint.js';
import { policyLint, ruleLint } from '../../service/lint/lint.js';
import { type AclParts, admit, stateReadOf, UNDECODED } from './common.js';
import type { DeclaredRoute } from './types.js';

export function lintRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const { service } = parts;
  const route = <B extends { readonly Namespace?: string | undefined }>(
    path: '/v1/acl/policy/lint' | '/v1/acl/binding-rule/lint',
    noun: string,
    type: Type<unknown, B>,
    lint: (request: StateRead, body: B) => Promise<ReadOutcome<string | undefined>>,
  ): DeclaredRoute => ({
    path,
    counts: 'read',
    isNew: true,
    adds: true,
    POST: async (request) => {
      await admit(request, UNDECODED, maySomewhere(service, request, 'acl', 'read'));
      const body = await request.decoded(UNDECODED, type);
      const asked = stateReadOf(request, request.namespace(body.Namespace));
      const outcome = await lint(asked, body);
      request.answerRead(outcome, `Requested ${noun} does not exist`);
    },
  });
  return [
    route('/v1/acl/policy/lint', 'policy', POLICY_LINT, (request, body) =>
      policyLint(service, request, body),
    ),
    route('/v1/acl/binding-rule/lint', 'binding rule', RULE_LINT, (request, body) =>
      ruleLint(parts, request, body),
    ),
    {
      path: '/v1/acl/lint',
      isNew: true,
      GET: async (request) => {
        const severity = severityOf(request.query('severity'));
        const { caller } = request;
        const options = request.singleReadOptions();
        const ns = request.namespaceOrAll();
        request.answerRead(await clusterLint(parts, { caller, options }, { ns, severity }));
      },
    },
  ];
}
