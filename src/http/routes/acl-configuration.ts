/** The ACL configuration, for operators. */
import {
  decodeConfiguration,
  mayConfigure,
  readConfiguration,
  writeConfiguration,
} from '../../service/acl/acl-configuration.js';
import type { Service } from '../../service/common/types.js';
import { admit } from '../request/admit.js';
import { ifMatchOf } from '../request/preconditions.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const FAILURE = 'Error parsing ACL configuration';

const etagOf = (text: string): string =>
  `"${(JSON.parse(text) as { ModifyIndex: number }).ModifyIndex}"`;

/** The ACL configuration: read and replace it. */
export function aclConfigurationRoutes(service: Service): readonly DeclaredRoute[] {
  const read = async (request: ApiRequest): Promise<void> => {
    const options = request.readOptions(false);
    const outcome = await service.read(request.caller, options, readConfiguration);
    request.answerRead(outcome, undefined, { ETag: etagOf(outcome.value) });
  };

  const write = async (request: ApiRequest): Promise<void> => {
    await admit(request, FAILURE, mayConfigure(service, request));
    const ifMatch = ifMatchOf(request.incoming);
    const configuration = decodeConfiguration(FAILURE, await request.body(FAILURE));
    const text = await writeConfiguration(service, request, configuration, ifMatch);
    request.answerJson(text, 200, { ETag: etagOf(text) });
  };

  return [
    { path: '/v1/operator/acl/configuration', isNew: true, ifMatch: true, GET: read, PUT: write },
  ];
}
