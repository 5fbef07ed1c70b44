/** Batch authorisation: may the caller do these things? */
import { authorizeBatch } from '../acl/batch.js';
import { ApiError, reject } from '../errors.js';
import { list, object, text } from '../service/decode.js';
import type { Service } from '../service/types.js';
import type { Route } from './types.js';

const FAILURE = 'Failed to decode request body';
const questionsOf = list(object({ Resource: text, Access: text, Segment: text }));

export function authorizeRoutes(service: Service): readonly Route[] {
  return [
    {
      path: '/v1/internal/acl/authorize',
      POST: async (request) => {
        const body = (await request.bodyValue(FAILURE)) ?? [];
        if (!Array.isArray(body)) reject('invalid', `${FAILURE}: expected a list of questions`);
        const questions = questionsOf(body, { failure: FAILURE, pointer: '' });
        const authorizer = await service.permit(request.caller, request.timeoutMs, () => undefined);
        const outcome = authorizeBatch(authorizer, questions, request.namespace());
        if (!outcome.ok) throw new ApiError(outcome.refusal);
        request.answerValue(outcome.decisions);
      },
    },
  ];
}
