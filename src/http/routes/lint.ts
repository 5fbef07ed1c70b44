/** Routes of lint. */
import { POLICY_LINT, RULE_LINT } from '../../api/bodies/lint.js';
import type { Type } from '../../languages/fields.js';
import { decodeBody } from '../../service/common/decode.js';
import type { ReadOutcome } from '../../service/common/types.js';
import { clusterLint, severityOf } from '../../service/lint/cluster-lint.js';
import { type LintRequest, mayLint, policyLint, ruleLint } from '../../service/lint/lint.js';
import { admit } from '../request/admit.js';
import type { AclParts } from './acl-common.js';
import type { DeclaredRoute } from './types.js';

const FAILURE = 'Failed to decode request body';

/** Lint of policies, of binding rules, and of all that is stored. */
export function lintRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const { service } = parts;
  const route = <B extends { readonly Namespace?: string | undefined }>(
    path: '/v1/acl/policy/lint' | '/v1/acl/binding-rule/lint',
    noun: string,
    type: Type<unknown, B>,
    lint: (request: LintRequest, body: B) => Promise<ReadOutcome<string | undefined>>,
  ): DeclaredRoute => ({
    path,
    counts: 'read',
    isNew: true,
    adds: true,
    POST: async (request) => {
      await admit(request, FAILURE, mayLint(service, request));
      const body = decodeBody(FAILURE, await request.body(FAILURE), type);
      const options = request.readOptions(false);
      const ns = request.namespace(body.Namespace);
      const outcome = await lint({ caller: request.caller, ns, options }, body);
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
        const options = request.readOptions(false);
        const ns = request.namespaceOrAll();
        request.answerRead(await clusterLint(parts, { caller, options }, { ns, severity }));
      },
    },
  ];
}
