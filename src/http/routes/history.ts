/** Routes of the history: the feed of changes, the versions of an object, undo, the bounds. */
import { UNDO } from '../../api/endpoints/history.js';
import { reject } from '../../base/errors.js';
import { mustBeType } from '../../service/change/found.js';
import {
  BOUNDS_BODY,
  decodeBounds,
  mayConfigureHistory,
  readBounds,
  writeBounds,
} from '../../service/history/bounds.js';
import { type FeedQuery, readFeed } from '../../service/history/feed.js';
import { undoEntry } from '../../service/history/undo.js';
import { readVersions } from '../../service/history/versions.js';
import { ifMatchOf } from '../request/preconditions.js';
import { type AclParts, admit, answerPast, etagOf } from './common.js';
import { indexOf, limitOf, subjectIn, switchOf } from './pages.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const UNDO_FAILURE = 'Undo decoding failed';
const FAILURE = 'Error parsing history configuration';
/** The most items in one answer, and the number without `limit`. */
const VERSIONS = 50;
const CHANGES = 100;

export const historyRoutes = (parts: AclParts): readonly DeclaredRoute[] => {
  const { service } = parts;
  return [
    {
      path: '/v1/history',
      isNew: true,
      GET: async (request) => {
        const query = feedQueryOf(request);
        const { caller } = request;
        const asked = { caller, ns: request.namespace(), options: request.readOptions() };
        request.answerRead(await readFeed(parts, asked, query));
      },
    },
    {
      path: '/v1/history/:type/:id',
      isNew: true,
      GET: async (request) => {
        const [type, id] = [request.param('type'), request.param('id')];
        const limit = limitOf(request, VERSIONS);
        const [before, version] = [indexOf(request, 'before'), indexOf(request, 'version')];
        const [from, to] = [indexOf(request, 'from'), indexOf(request, 'to')];
        if (to !== undefined && from === undefined)
          reject('invalid', 'Parameter "to" needs "from"');
        mustAskOnce(request);
        const query = { type, id, limit, before, version, from, to };
        const options = request.singleReadOptions();
        const useCase = readVersions(request.namespace(), query);
        const read = service.read(request.caller, options, useCase);
        await answerPast(service, request, read, 'The history does not contain the object');
      },
    },
    {
      path: '/v1/undo',
      isNew: true,
      POST: async (request) => {
        const body = await request.decoded(UNDO_FAILURE, UNDO);
        const { caller, timeoutMs, reason, notes } = request;
        request.answerJson(await undoEntry(parts, { caller, timeoutMs, reason, notes }, body));
      },
    },
    {
      path: '/v1/operator/history/configuration',
      isNew: true,
      ifMatch: true,
      GET: async (request) => {
        const options = request.singleReadOptions();
        const outcome = await service.read(request.caller, options, readBounds);
        request.answerRead(outcome, undefined, { ETag: etagOf(outcome.value) });
      },
      PUT: async (request) => {
        await admit(request, FAILURE, mayConfigureHistory(service, request));
        const ifMatch = ifMatchOf(request.incoming);
        const bounds = decodeBounds(FAILURE, await request.body(FAILURE, BOUNDS_BODY));
        const text = await writeBounds(service, request, bounds, ifMatch);
        request.answerJson(text, 200, { ETag: etagOf(text) });
      },
    },
  ];
};

function feedQueryOf(request: ApiRequest): FeedQuery {
  const types = request.query('types')?.split(',');
  for (const type of types ?? []) if (type !== 'login-tokens') mustBeType(type);
  return {
    after: indexOf(request, 'after'),
    limit: limitOf(request, CHANGES),
    types: types && new Set(types),
    author: request.query('author')?.toLowerCase(),
    subject: subjectIn(request),
    logins: switchOf(request, 'logins'),
  };
}

/** What is asked of an object: its versions, one of them, or how two differ. */
const ASKED = [['limit', 'before'], ['version'], ['from', 'to']] as const;

/** Throws ApiError 400 for two questions at once. */
function mustAskOnce(request: ApiRequest): void {
  const isSent = (name: string): boolean => request.query(name) !== undefined;
  const [one, other] = ASKED.flatMap((names) => names.find(isSent) ?? []);
  if (other !== undefined)
    reject('invalid', `Parameters "${one}" and "${other}" exclude each other`);
}
