/** Routes of config entries, and of the discovery chains that they make. */
import { reject } from '../../base/errors.js';
import { DECODING, ENTRY_BODY } from '../../kinds/decode.js';
import { definitionOf } from '../../kinds/definitions.js';
import type { ReadContext, Service } from '../../service/common/types.js';
import {
  applyConfig,
  type ConfigWrite,
  deleteConfig,
  kindOf,
  mayApplySomething,
  mustApply,
  mustChange,
  nearestEntry,
  readConfig,
} from '../../service/config/config-entries.js';
import { ConfigLists } from '../../service/config/config-entry-lists.js';
import { patchConfig } from '../../service/config/config-patch.js';
import { Chains } from '../../service/config/discovery-chain.js';
import { missingEntry } from '../../service/config/shown-entries.js';
import { parseIndex } from '../request/parameters.js';
import { asksForProblem } from '../response/refusal-body.js';
import { type AclParts, admit, answerOne, etagOf, mustBePatch, mustHave } from './common.js';
import { answerPlan } from './lists.js';
import { pageOf } from './pages.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

/** The routes below `/v1/config`, and the chains that entries make. */
export function configRoutes({
  service,
  datacenter,
}: Pick<AclParts, 'service' | 'datacenter'>): readonly DeclaredRoute[] {
  const writeOf = (request: ApiRequest): ConfigWrite => ({
    caller: request.caller,
    ns: request.namespace(),
    timeoutMs: request.timeoutMs,
    noteOwner: (owner) => request.noteOwner(owner),
    reason: request.reason,
    notes: request.notes,
    match: request.precondition(),
    cas: casOf(request),
    saysVersion: asksForProblem(request.incoming),
    datacenter,
  });
  const lists = new ConfigLists(service);
  return [
    {
      path: '/v1/config',
      ifMatch: true,
      ifNoneMatch: true,
      PUT: async (request) => {
        await admit(request, DECODING, mayApplySomething(service, request), {
          type: ENTRY_BODY,
          mustMay: async (body) => mustApply(service, writeOf(request), body),
        });
        const body = await request.bodyValue(DECODING, ENTRY_BODY);
        const write = writeOf(request);
        const answer = await applyConfig(service, write, body);
        if (write.match === undefined) request.answerJson(answer);
        else request.answerWritten('true', { etag: etagOf(answer) });
      },
    },
    entryRoute(service, writeOf),
    {
      path: '/v1/config/:kind',
      GET: (request) => answerList(service, lists, request),
      DELETE: () => reject('not_found', 'Must provide both a kind and name to delete'),
    },
    chainRoute(service, datacenter),
  ];
}

const entryRoute = (
  service: Service,
  writeOf: (request: ApiRequest) => ConfigWrite,
): DeclaredRoute => ({
  path: '/v1/config/:kind/:name',
  ifMatch: true,
  GET: async (request) => {
    const id = { kind: kindOf(request.param('kind')), name: request.param('name') };
    const ns = request.namespace();
    const read = readConfig(ns, id);
    let seen: ReadContext;
    const outcome = await service.read(request.caller, request.readOptions(), (context) => {
      seen = context;
      return read(context);
    });
    const sentence = outcome.value === undefined ? missingEntry(id) : '';
    // the name of an entry that may be meant
    answerOne(request, outcome, sentence, () => nearestEntry(seen, ns, id));
  },
  DELETE: async (request) => {
    const id = { kind: kindOf(request.param('kind')), name: request.param('name') };
    request.answerJson(await deleteConfig(service, writeOf(request), id));
  },
  PATCH: async (request) => {
    mustBePatch(request);
    if (request.query('cas') !== undefined) {
      reject('invalid', 'cas cannot be sent with a patch', {
        hint: 'send If-Match: "<ModifyIndex>"',
      });
    }
    const id = { kind: kindOf(request.param('kind')), name: request.param('name') };
    const write = writeOf(request);
    const { kind, name } = id;
    await admit(request, DECODING, mustChange(service, write, { operation: 'apply', kind, name }));
    const sent = await request.body(DECODING, definitionOf(kind).type);
    const text = await patchConfig(service, write, id, sent);
    request.answerWritten(text, { etag: etagOf(text) });
  },
});

/** The condition of a write; null if there is none. Throws 400 with the words clients know. */
function casOf(request: ApiRequest): number | null {
  const text = request.query('cas');
  if (text === undefined) return null;
  if (request.precondition() !== undefined)
    reject('invalid', 'cas cannot be sent with If-Match or If-None-Match');
  const cas = parseIndex(text);
  if (cas !== undefined) return cas;
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  return reject(
    'invalid',
    `Invalid cas: strconv.ParseUint: parsing ${JSON.stringify(text.slice(0, 64))}: ${why}`,
    { hint: 'cas is the ModifyIndex that the entry must have, 0 for an entry that must not exist' },
  );
}

async function answerList(
  service: Service,
  lists: ConfigLists,
  request: ApiRequest,
): Promise<void> {
  const named = request.param('kind');
  const useCase = lists.list({
    ns: request.namespace(),
    kind: named === '' ? undefined : kindOf(named),
    filter: request.query('filter'),
    search: request.query('search'),
    page: pageOf(request),
    isPretty: request.flag('pretty'),
  });
  const outcome = await service.read(request.caller, request.readOptions(), useCase);
  const { value } = outcome;
  if (value instanceof Uint8Array) request.answerBytes({ ...outcome, value });
  else await answerPlan(service, request, value, outcome);
}

function chainRoute(service: Service, datacenter: string): DeclaredRoute {
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
