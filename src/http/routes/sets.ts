/** Routes of sets. */
import { SET, type SetBody } from '../../api/endpoints/sets.js';
import { reject } from '../../base/errors.js';
import { decodeBody } from '../../service/common/decode.js';
import { isReason, REASON_BYTES_MAX } from '../../service/common/writing.js';
import { applySet } from '../../service/sets/apply.js';
import { readPlan } from '../../service/sets/plan.js';
import { mustBeObject } from '../request/body.js';
import type { AclParts } from './common.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const FAILURE = 'Set decoding failed';

/** The routes of plan and apply. */
export const setRoutes = (parts: AclParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/plan',
    counts: 'read',
    isNew: true,
    POST: async (request) => {
      const { caller } = request;
      const options = request.readOptions(false);
      const body = await setOf(request);
      const ns = request.namespace(body.Namespace);
      request.answerRead(await readPlan(parts, { caller, ns, options, body }));
    },
  },
  {
    path: '/v1/apply',
    isNew: true,
    POST: async (request) => {
      const { caller, timeoutMs } = request;
      const body = await setOf(request);
      const ns = request.namespace(body.Namespace);
      const { applied, owners } = await applySet(parts, {
        caller,
        ns,
        timeoutMs,
        body,
        reason: reasonOf(body) ?? request.reason,
        notes: request.notes,
      });
      request.noteOwner(owners);
      request.answerJson(JSON.stringify(applied));
    },
  },
];

/** Returns the reason of a body; undefined if it gives none. Throws ApiError 400. */
function reasonOf({ Reason = '' }: SetBody): string | undefined {
  if (Reason === '' || isReason(Reason)) return Reason || undefined;
  const why = `Reason has at most ${REASON_BYTES_MAX} bytes and no control characters`;
  return reject('invalid', why, { pointer: '/Reason' });
}

async function setOf(request: ApiRequest): Promise<SetBody> {
  const value = await request.bodyValue(FAILURE, { large: true });
  return decodeBody(FAILURE, mustBeObject(value, FAILURE), SET);
}
