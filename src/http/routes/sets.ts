/** Routes of sets. */
import { SET, type SetBody } from '../../api/endpoints/sets.js';
import { reasoned } from '../../service/common/writing.js';
import { applySet } from '../../service/sets/apply.js';
import { readPlan } from '../../service/sets/plan.js';
import type { AclParts } from './common.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const FAILURE = 'Set decoding failed';

export const setRoutes = (parts: AclParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/plan',
    counts: 'read',
    isNew: true,
    POST: async (request) => {
      const { caller } = request;
      const options = request.singleReadOptions();
      const body = await setOf(request);
      const ns = request.namespace(body.Namespace);
      request.answerRead(await readPlan(parts, { caller, ns, options, body }));
    },
  },
  {
    path: '/v1/apply',
    isNew: true,
    POST: async (request) => {
      const { caller, timeoutMs, reason, notes } = request;
      const body = await setOf(request);
      const ns = request.namespace(body.Namespace);
      const writer = reasoned({ caller, timeoutMs, reason, notes }, body.Reason);
      const { applied, owners } = await applySet(parts, { ...writer, ns, body });
      request.noteOwner(owners);
      request.answerJson(JSON.stringify(applied));
    },
  },
];

const setOf = (request: ApiRequest): Promise<SetBody> =>
  request.decoded(FAILURE, SET, { large: true });
