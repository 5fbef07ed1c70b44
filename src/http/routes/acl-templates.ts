/** Routes of templated policies. They carry no index: built-in templates do not change. */

import { PREVIEW_VARIABLES } from '../../api/bodies/templates.js';
import {
  listTemplates,
  mustPreview,
  previewTemplate,
  readTemplate,
} from '../../service/acl/templated-policies.js';
import { decodeValue } from '../../service/common/decode.js';
import { type AclParts, mustHave, writeOf } from './acl-common.js';
import type { DeclaredRoute } from './types.js';

const FAILURE = 'Failed to decode request body';
const WHAT = 'templated policy Name';

/** Templated policies: list, read and preview them. */
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
        const body = (await request.bodyValue(FAILURE)) ?? {};
        const variables = decodeValue(FAILURE, body, PREVIEW_VARIABLES);
        request.answerValue(previewTemplate(name, variables));
      },
    },
  ];
}
