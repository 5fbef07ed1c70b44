/**
 * Who may do what to which kind: the API's permission table. Enforcement and tests read it here and
 * nowhere else. `mesh` rights are the token's mesh rule or, where it has none, its operator rule;
 * that is for the authorizer to know.
 */

import { servicesNamed } from './references.js';
import type { ConfigEntry, Kind, Permission } from './types.js';

export type Operation = 'apply' | 'delete' | 'get' | 'list';
export type Permissions = Readonly<Record<Operation, Permission>>;

const right = (
  resource: Permission['resource'],
  access: Permission['access'],
  named = false,
): Permission => ({ resource, access, named });

const rights = (write: Permission, read: Permission): Permissions => ({
  apply: write,
  delete: write,
  get: read,
  list: read,
});

const MESH_WRITE = right('mesh', 'write');
const SERVICE_READ = right('service', 'read', true);
const OF_SERVICE = rights(right('service', 'write', true), SERVICE_READ);
const OF_INTENTIONS = rights(right('intention', 'write', true), right('intention', 'read', true));
const OF_GATEWAY = rights(MESH_WRITE, SERVICE_READ);
const OF_MESH = rights(MESH_WRITE, right('mesh', 'read'));
const OPEN_TO_READ = rights(MESH_WRITE, right('none', 'read'));
const BY_SERVER_ONLY = rights(right('never', 'write'), SERVICE_READ);

const TABLE: Readonly<Record<Kind, Permissions>> = {
  'api-gateway': OF_GATEWAY,
  'bound-api-gateway': BY_SERVER_ONLY,
  'exported-services': OF_MESH,
  'file-system-certificate': OF_MESH,
  'http-route': OF_MESH,
  'ingress-gateway': OF_GATEWAY,
  'inline-certificate': OF_MESH,
  mesh: OPEN_TO_READ,
  'proxy-defaults': OPEN_TO_READ,
  'service-defaults': OF_SERVICE,
  'service-intentions': OF_INTENTIONS,
  'service-resolver': OF_SERVICE,
  'service-router': OF_SERVICE,
  'service-splitter': OF_SERVICE,
  'tcp-route': OF_MESH,
  'terminating-gateway': OF_GATEWAY,
};

/** The refusal for what nobody may do. */
export const NEVER_ALLOWED = 'Permission denied: only writeable by controller';

/** The permissions of a kind. */
export const permissionsOf = (kind: Kind): Permissions => TABLE[kind];

/**
 * Kinds that send requests on: who applies an entry needs service:read on every other service named
 * in it.
 */
export const readsServices = (kind: Kind): boolean =>
  kind === 'service-resolver' || kind === 'service-router' || kind === 'service-splitter';

/** The services to be read for an entry of such a kind. */
export const servicesToRead = (entry: ConfigEntry): readonly string[] =>
  readsServices(entry.Kind) ? servicesNamed(entry) : [];
