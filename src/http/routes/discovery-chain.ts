/** The route of compiled discovery chains. */

import type { Service } from '../../service/common/types.js';
import { Chains } from '../../service/config/discovery-chain.js';
import { mustHave } from './acl-common.js';
import type { DeclaredRoute } from './types.js';

/** The chain of a service. */
export function chainRoute(service: Service, datacenter: string): DeclaredRoute {
  const chains = new Chains(service);
  return {
    path: '/v1/discovery-chain/:service',
    isNew: true,
    GET: async (request) => {
      const name = mustHave(request, 'service', 'service name');
      const query = { service: name, ns: request.namespace(), datacenter };
      request.answerRead(await chains.read(request.caller, request.readOptions(), query));
    },
  };
}
