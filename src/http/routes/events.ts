/** The route of the event stream. */
import { reject } from '../../base/errors.js';
import { type OpenedEvents, openEvents } from '../../service/events/open.js';
import { topicsIn } from '../../service/events/topics.js';
import { type AclParts, withIndex } from './common.js';
import { indexOf, switchOf, wordOf } from './pages.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

export const eventRoutes = ({ service, events }: AclParts): readonly DeclaredRoute[] => [
  {
    path: '/v1/events',
    isNew: true,
    GET: async (request) => {
      const filter = topicsIn(request.query('topics'));
      const after = placeOf(request);
      const hasPayload = wordOf(request, 'payload', ['full', 'none']) === 'full';
      const logins = switchOf(request, 'logins');
      const asked = { caller: request.caller, options: request.singleReadOptions() };
      const query = { ...asked, filter, ns: request.namespaceOrAll(), hasPayload, logins, after };
      const open = (): Promise<OpenedEvents> => openEvents(service, events, query);
      await withIndex(service, request, request.answerEvents(open));
    },
  },
];

/** Returns the index after which the reader goes on, if it names one. Throws ApiError 400. */
function placeOf(request: ApiRequest): number | undefined {
  const { 'last-event-id': id } = request.incoming.headers;
  if (id === undefined || id === '') return indexOf(request, 'index');
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id);
  return reject('invalid', 'Invalid header "Last-Event-ID": expected the id of an event', {
    hint: 'ids are indexes',
  });
}
