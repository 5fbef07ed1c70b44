/** Routes of autopilot. */
import { AUTOPILOT_CONFIGURATION } from '../../api/bodies/autopilot.js';
import { reject } from '../../base/errors.js';
import {
  autopilotHealth,
  autopilotState,
  mustWriteAutopilot,
  readAutopilot,
  writeAutopilot,
} from '../../service/cluster/autopilot.js';
import type { ClusterParts } from '../../service/cluster/cluster.js';
import { decodeBody } from '../../service/common/decode.js';
import { admit } from '../request/admit.js';
import { parseIndex } from '../request/parameters.js';
import { asksForProblem } from '../response/refusal-body.js';
import { clusterRead } from './cluster-read.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const FAILURE = 'Error parsing autopilot config';

/** The routes below `/v1/operator/autopilot`. */
export const autopilotRoutes = (parts: ClusterParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/operator/autopilot/configuration',
    GET: async (request) => {
      const options = request.readOptions(false);
      const { value } = await parts.service.read(request.caller, options, readAutopilot);
      request.answerJson(value);
    },
    PUT: async (request) => {
      const { service } = parts;
      const cas = casOf(request);
      await admit(request, FAILURE, mustWriteAutopilot(service, request));
      const sent = decodeBody(FAILURE, await request.body(FAILURE), AUTOPILOT_CONFIGURATION);
      const condition = { cas, saysVersion: asksForProblem(request.incoming) };
      request.answerJson(await writeAutopilot(service, request, sent, condition));
    },
  },
  {
    path: '/v1/operator/autopilot/health',
    GET: async (request) => {
      const health = await autopilotHealth(parts, clusterRead(request));
      request.answerValue(health, health.Healthy ? 200 : 429);
    },
  },
  {
    path: '/v1/operator/autopilot/state',
    GET: async (request) => request.answerValue(await autopilotState(parts, clusterRead(request))),
  },
];

/** The ModifyIndex of `?cas=`; undefined if there is none. Throws 400. */
function casOf(request: ApiRequest): number | undefined {
  const text = request.query('cas');
  if (text === undefined) return undefined;
  const shown = JSON.stringify(text.slice(0, 60));
  return parseIndex(text) ?? reject('invalid', `Error parsing cas value: ${shown} is no index`);
}
