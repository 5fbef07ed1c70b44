/** The operations on config entries and chains. */
import { CHAIN } from '../answers/chain-answers.js';
import { BLOCKING } from './common.js';
import type { Operations } from './types.js';

const KIND_RIGHTS = ['by kind, such as service:write'];

/** The operations below `/v1/config`, and that of chains. */
export const CONFIG_OPERATIONS = {
  '/v1/config': {
    PUT: {
      id: 'writeConfigEntry',
      tag: 'config',
      says: 'Creates or replaces a config entry.',
      does: 'write',
      query: ['cas'],
      body: { content: { ref: 'ConfigEntryBody' } },
      answers: {
        200: {
          says: 'Whether the entry was written: false if its index differs from cas.',
          content: { schema: { type: 'boolean' } },
        },
      },
      refuses: [409, 412],
      rights: KIND_RIGHTS,
    },
  },
  '/v1/config/:kind/:name': {
    GET: {
      id: 'readConfigEntry',
      tag: 'config',
      says: 'Reads a config entry.',
      does: 'read',
      query: [...BLOCKING],
      answers: {
        200: { says: 'The entry.', content: { ref: 'ConfigEntry' }, headers: ['index'] },
      },
      refuses: [404],
      rights: ['by kind, such as service:read'],
      blocks: true,
    },
    DELETE: {
      id: 'deleteConfigEntry',
      tag: 'config',
      says: 'Deletes a config entry, if it exists.',
      does: 'write',
      query: ['cas'],
      answers: {
        200: {
          says: 'An empty object. With cas: whether the entry was deleted.',
          content: {
            schema: { anyOf: [{ type: 'boolean' }, { type: 'object', maxProperties: 0 }] },
          },
        },
      },
      refuses: [404, 409, 412],
      rights: KIND_RIGHTS,
    },
  },
  '/v1/config/:kind': {
    GET: {
      id: 'listConfigEntries',
      tag: 'config',
      says:
        'Lists the config entries of a kind that the caller may read, or of all kinds if ' +
        'none is given.',
      does: 'read',
      query: [...BLOCKING, 'filter'],
      answers: {
        200: {
          says: 'The entries.',
          content: {
            schema: { type: 'array', items: { $ref: '#/components/schemas/ConfigEntry' } },
          },
          headers: ['index'],
        },
      },
      rights: ['by kind, such as service:read'],
      blocks: true,
    },
    DELETE: {
      id: 'deleteConfigEntries',
      tag: 'config',
      says: 'Always refused, because a deletion must name an entry.',
      does: 'open',
      answers: {},
      refuses: [404],
    },
  },
  '/v1/discovery-chain/:service': {
    GET: {
      id: 'readDiscoveryChain',
      tag: 'config',
      says: 'Compiles the discovery chain of a service.',
      does: 'read',
      query: [...BLOCKING],
      answers: { 200: { says: 'The chain.', content: { type: CHAIN }, headers: ['index'] } },
      refuses: [409],
      rights: ['service:read'],
      blocks: true,
    },
  },
} as const satisfies Operations;
