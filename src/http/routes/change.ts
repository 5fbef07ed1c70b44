/** Routes that look before a change: references, validation of entries, and objects as a set. */
import { exportObjects, kindsIn, tablesIn } from '../../service/change/export.js';
import { readRefs } from '../../service/change/refs.js';
import { ENTRIES_BODY, validateEntries } from '../../service/config/validate.js';
import { type AclParts, mustHave, stateReadOf } from './common.js';
import { escaped } from './lists.js';
import { switchOf } from './pages.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

/** Validation stands before the routes of entries, whose paths it extends. */
export const changeRoutes = (parts: AclParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/config/validate',
    counts: 'read',
    isNew: true,
    adds: true,
    POST: async (request) => {
      const body = await request.bodyValue('Request decoding failed', ENTRIES_BODY);
      request.answerRead(await validateEntries(parts, stateReadOf(request), body));
    },
  },
  {
    path: '/v1/refs/:type/:id',
    isNew: true,
    GET: async (request) => {
      const which = { type: request.param('type'), id: mustHave(request, 'id', 'ID') };
      const outcome = await readRefs(parts, stateReadOf(request), which);
      const what = which.type === 'config' ? 'config entry' : which.type.replace('-', ' ');
      request.answerRead(outcome, `Requested ${what} does not exist`);
    },
  },
  {
    path: '/v1/export',
    isNew: true,
    GET: (request) => answerExport(parts, request),
  },
];

async function answerExport(parts: AclParts, request: ApiRequest): Promise<void> {
  const { caller } = request;
  const [types, kinds] = [request.query('types'), request.query('kind')];
  const query = {
    ns: request.namespaceOrAll(),
    // A kind without types asks for its entries alone.
    tables: tablesIn(types ?? (kinds === undefined ? undefined : 'config')),
    kinds: kindsIn(kinds),
    owner: request.query('owner'),
    ids: switchOf(request, 'ids'),
    at: request.query('at'),
    partial: switchOf(request, 'partial'),
    pretty: request.flag('pretty'),
  };
  const options = request.singleReadOptions();
  await exportObjects(parts, { caller, options }, query, (pieces, outcome) =>
    request.answerStream(escaped(pieces), { outcome }),
  );
}
