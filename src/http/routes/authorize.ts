/** Route of batch authorization: which of these accesses does the caller have? */

import { authorizeBatch } from '../../acl/batch.js';
import { AUTHORIZE } from '../../api/bodies/questions.js';
import { ApiError, reject } from '../../base/errors.js';
import { decodeValue } from '../../service/common/decode.js';
import type { Service } from '../../service/common/types.js';
import type { DeclaredRoute } from './types.js';

const FAILURE = 'Failed to decode request body';

/** The route of `/v1/internal/acl/authorize`. */
export function authorizeRoutes(service: Service): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/internal/acl/authorize',
      counts: 'read',
      POST: async (request) => {
        const sent = (await request.bodyValue(FAILURE, { small: true })) ?? [];
        if (!Array.isArray(sent)) reject('invalid', `${FAILURE}: expected a list of questions`);
        const questions = decodeValue(FAILURE, sent, AUTHORIZE);
        const ns = request.namespace();
        // a read like others: rights that were removed before the request do not count
        const { value } = await service.read(
          request.caller,
          request.readOptions(false),
          ({ authorizer }) => {
            const outcome = authorizeBatch(authorizer, questions, ns);
            if (!outcome.ok) throw new ApiError(outcome.refusal);
            return { value: outcome.decisions, index: 1, keys: [] };
          },
        );
        request.answerValue(value);
      },
    },
  ];
}
