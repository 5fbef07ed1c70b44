/** Routes of templated policies: list, read and preview them. */
import { PREVIEW_VARIABLES } from '../../api/endpoints/tokens.js';
import {
  listTemplates,
  mustPreview,
  previewTemplate,
  readTemplate,
} from '../../service/acl/templated-policies.js';
import { decodeValue } from '../../service/common/decode.js';
import { type AclParts, mustHave, UNDECODED, writeOf } from './common.js';
import type { DeclaredRoute } from './types.js';

const WHAT = 'templated policy Name';

export function templateRoutes({ service }: AclParts): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/acl/templated-policies',
      GET: async (request) => request.answerValue(await listTemplates(service, writeOf(request))),
    },
    {
      path: '/v1/acl/templated-policy/name/:name',
      GET: async (request) => {
        const name = mustHave(request, 'name', WHAT);
        request.answerValue(await readTemplate(service, writeOf(request), name));
      },
    },
    {
      path: '/v1/acl/templated-policy/preview/:name',
      counts: 'read',
      POST: async (request) => {
        const name = mustHave(request, 'name', WHAT);
        await mustPreview(service, writeOf(request), name);
        const body = (await request.bodyValue(UNDECODED, PREVIEW_VARIABLES)) ?? {};
        const variables = decodeValue(UNDECODED, body, PREVIEW_VARIABLES);
        request.answerValue(previewTemplate(name, variables));
      },
    },
  ];
}
