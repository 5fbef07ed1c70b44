/** The route that decides a batch of accesses for one token. */
import { authorizeBatch, type Decision, type Question } from '../../acl/batch.js';
import { AUTHORIZE } from '../../api/endpoints/tokens.js';
import { ApiError, reject } from '../../base/errors.js';
import { usualList, usualObject, usualText } from '../../languages/usual-json.js';
import { decodeValue } from '../../service/common/decode.js';
import type { Service } from '../../service/common/types.js';
import { UNDECODED } from './common.js';
import type { DeclaredRoute } from './types.js';

const MEMBERS: readonly string[] = ['Resource', 'Access', 'Segment'] satisfies (keyof Question)[];
/** Whether questions need no decoding, which takes a sixth of the time of a batch. */
const arePlain = (sent: readonly unknown[]): sent is readonly Question[] => sent.every(isPlain);

function isPlain(sent: unknown): boolean {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return false;
  const members = sent as Readonly<Record<string, unknown>>;
  for (const name in members)
    if (!MEMBERS.includes(name) || !isTextOrAbsent(members[name])) return false;
  return true;
}

const isTextOrAbsent = (value: unknown): boolean =>
  typeof value === 'string' || value === undefined;

/** Questions as most clients send them. */
const USUAL = usualList(
  usualObject(
    { Resource: usualText, Access: usualText, Segment: usualText },
    (Resource, Access, Segment) => ({ Resource, Access, Segment }),
  ),
);

/** Texts that JSON has as they are. */
const AS_IT_IS = /^[ !#-[\]-~]*$/;

/** Returns a decision as JSON. Resource and access are known words. */
function decisionText({ Resource, Access, Segment, Allow }: Decision): string {
  const plain = `{"Resource":"${Resource}","Access":"${Access}"`;
  if (Segment === undefined) return `${plain},"Allow":${Allow}}`;
  const segment = AS_IT_IS.test(Segment) ? `"${Segment}"` : JSON.stringify(Segment);
  return `${plain},"Segment":${segment},"Allow":${Allow}}`;
}

export function authorizeRoutes(service: Service): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/internal/acl/authorize',
      counts: 'read',
      POST: async (request) => {
        const options = { small: true, usual: USUAL };
        const sent = (await request.bodyValue(UNDECODED, AUTHORIZE, options)) ?? [];
        if (!Array.isArray(sent)) reject('invalid', `${UNDECODED}: expected a list of questions`);
        const questions = arePlain(sent) ? sent : decodeValue(UNDECODED, sent, AUTHORIZE);
        const ns = request.namespace();
        // a read like others: rights that were removed before the request do not count
        const { value } = await service.read(
          request.caller,
          request.singleReadOptions(),
          ({ authorizer }) => {
            const outcome = authorizeBatch(authorizer, questions, ns);
            if (!outcome.ok) throw new ApiError(outcome.refusal);
            return { value: outcome.decisions, index: 1, keys: [] };
          },
        );
        request.answerJson(`[${value.map(decisionText).join(',')}]`);
      },
    },
  ];
}
