/** Batch authorisation: may the caller do these things? */
import { type Access, NAMED, type Named, SCALARS, type Scalar } from '../acl/types.js';
import { reject } from '../errors.js';
import { type Decoded, list, object, text } from '../service/decode.js';
import type { Service } from '../service/types.js';
import type { Route } from './types.js';

/** One request answers at most so many questions: it is decided in one turn of the loop. */
const QUESTIONS_MAX = 64;
const FAILURE = 'Failed to decode request body';
const FIELDS = { Resource: text, Access: text, Segment: text };
const questionsOf = list(object(FIELDS));
const RESOURCES: readonly string[] = [...SCALARS, ...NAMED, 'intention'];
const KEY_ACCESS: readonly string[] = ['read', 'list', 'write', 'write-prefix'];

interface Question {
  readonly sent: Decoded<typeof FIELDS>;
  readonly resource: Scalar | Named | 'intention';
  readonly access: Access;
  readonly segment: string;
}

export function authorizeRoutes(service: Service): readonly Route[] {
  return [
    {
      path: '/v1/internal/acl/authorize',
      POST: async (request) => {
        const questions = readQuestions(await request.bodyValue(FAILURE));
        const authorizer = await service.permit(request.caller, request.timeoutMs, () => undefined);
        const namespace = request.namespace();
        request.answerValue(
          questions.map(({ sent, resource, access, segment }) => ({
            ...sent,
            Allow: authorizer.allowed(resource, access, segment, namespace),
          })),
        );
      },
    },
  ];
}

function readQuestions(body: unknown): readonly Question[] {
  if (body === null) return [];
  if (!Array.isArray(body)) reject('invalid', `${FAILURE}: expected a list of questions`);
  if (body.length > QUESTIONS_MAX)
    reject('invalid', `Refusing to process more than ${QUESTIONS_MAX} authorizations at once`);
  return questionsOf(body, { failure: FAILURE, pointer: '' }).map((sent, at) => {
    const { Resource: resource = '', Segment: segment = '' } = sent;
    const access = (sent.Access ?? '').toLowerCase();
    if (!RESOURCES.includes(resource))
      reject('invalid', `Invalid ACL resource requested: ${JSON.stringify(resource)}`, {
        pointer: `/${at}/Resource`,
      });
    const levels = resource === 'key' ? KEY_ACCESS : ['read', 'write'];
    if (!levels.includes(access))
      reject('invalid', `Invalid access level for ${resource} resource: ${access}`, {
        pointer: `/${at}/Access`,
        hint: `one of ${levels.join(', ')}`,
      });
    return {
      sent,
      resource: resource as Question['resource'],
      access: access as Access,
      segment,
    };
  });
}
