/** Routes of lint. */
import { decodeBody } from '../service/decode.js';
import { mayLint, POLICY_LINT, policyLint } from '../service/lint.js';
import type { AclParts } from './acl-common.js';
import { admit } from './admit.js';
import type { Route } from './types.js';

const FAILURE = 'Failed to decode request body';

/** Lint of policies. Its paths lie under those of the objects. */
export function lintRoutes({ service }: AclParts): readonly Route[] {
  return [
    {
      path: '/v1/acl/policy/lint',
      counts: 'read',
      parameters: [],
      isOverlay: true,
      POST: async (request) => {
        await admit(request, FAILURE, mayLint(service, request));
        const body = decodeBody(FAILURE, await request.body(FAILURE), POLICY_LINT);
        const { caller } = request;
        const options = request.readOptions(false);
        const ns = request.namespace(body.Namespace);
        const outcome = await policyLint(service, { caller, ns, options }, body);
        request.answerRead(outcome, 'Requested policy does not exist');
      },
    },
  ];
}
