/**
 * The permissions that operations on each kind need. Enforcement and tests read this table and no
 * other. The authorizer decides `mesh` by the token's mesh rule, or by its operator rule if it has
 * no mesh rule.
 */
import { servicesNamed } from './references.js';
import type { ConfigEntry, Kind, Permission } from './types.js';

/** An operation on config entries. */
export type Operation = 'apply' | 'delete' | 'get' | 'list';
/** The permission that each operation needs. */
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

/** The message for an operation that no token may perform. */
export const NEVER_ALLOWED = 'Permission denied: only writeable by controller';

/** Returns the permissions of a kind. */
export const permissionsOf = (kind: Kind): Permissions => TABLE[kind];

/**
 * Whether a kind forwards requests to other services. A token that writes such an entry needs
 * service:read on every other service that the entry names.
 */
export const readsServices = (kind: Kind): boolean =>
  kind === 'service-resolver' || kind === 'service-router' || kind === 'service-splitter';

/** Returns the services on which the writer of an entry needs service:read. */
export const servicesToRead = (entry: ConfigEntry): readonly string[] =>
  readsServices(entry.Kind) ? servicesNamed(entry) : [];
