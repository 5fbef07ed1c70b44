/** Routes of the documents about the API. They are open to everyone, and loaded when asked for. */
import { reject } from '../../base/errors.js';
import { didYouMean } from '../../languages/suggest.js';
import type { ApiRequest, DeclaredRoute, Endpoint } from './types.js';

/** Returns the endpoint of the schemas whose names begin with `head`. */
const schemaNamed =
  (head: string, parameter: string): Endpoint =>
  async (request: ApiRequest) => {
    const { SCHEMAS } = await import('../../api/documents.js');
    const name = request.param(parameter);
    if (Object.hasOwn(SCHEMAS, head + name)) return request.answerDocument(SCHEMAS[head + name]!);
    const known = Object.keys(SCHEMAS)
      .filter((each) => each.startsWith(head))
      .map((each) => each.slice(head.length));
    const shown = JSON.stringify(name.slice(0, 60));
    reject('not_found', `There is no schema ${shown}${didYouMean(name, known)}`);
  };

export const documentRoutes: readonly DeclaredRoute[] = [
  {
    path: '/v1/openapi.json',
    everywhere: true,
    isNew: true,
    GET: async (request) =>
      request.answerDocument((await import('../../api/documents.js')).OPENAPI),
  },
  {
    path: '/v1/schema/config/:kind',
    everywhere: true,
    isNew: true,
    GET: schemaNamed('config/', 'kind'),
  },
  { path: '/v1/schema/:type', everywhere: true, isNew: true, GET: schemaNamed('', 'type') },
];
