/** Routes that explain: why a token may do something, what it may do at all. */
import { decodeBody } from '../service/decode.js';
import { EXPLAIN, explainQuestions } from '../service/explain/questions.js';
import type { AclParts } from './acl-common.js';
import type { Route } from './types.js';

const FAILURE = 'Failed to decode request body';
const NO_TOKEN = 'token does not exist';

/** The routes of explanations. */
export function explainRoutes(parts: AclParts): readonly Route[] {
  const { service } = parts;
  return [
    {
      path: '/v1/acl/authorize/explain',
      counts: 'read',
      parameters: [],
      POST: async (request) => {
        const body = decodeBody(FAILURE, await request.body(FAILURE), EXPLAIN);
        const ns = request.namespace(body.Namespace);
        const options = request.readOptions(false);
        const { caller } = request;
        const useCase = explainQuestions(parts, caller, ns, body);
        request.answerRead(await service.read(caller, options, useCase), NO_TOKEN);
      },
    },
  ];
}
