/**
 * The permissions that kinds give to the operations on their entries. The authorizer decides `mesh`
 * by the token's mesh rule, or by its operator rule if it has no mesh rule.
 */
import type { Permission } from './types.js';

/** An operation on config entries. */
export type Operation = 'apply' | 'delete' | 'get' | 'list';
/** The permission that each operation needs. */
export type Permissions = Readonly<Record<Operation, Permission>>;

type Right = readonly [resource: Permission['resource'], access: Permission['access']];
const right = (...[resource, access]: Right): Permission => ({ resource, access, named: false });
const namedRight = (...of: Right): Permission => ({ ...right(...of), named: true });

const rights = (write: Permission, read: Permission): Permissions => ({
  apply: write,
  delete: write,
  get: read,
  list: read,
});

const MESH_WRITE = right('mesh', 'write');
const SERVICE_READ = namedRight('service', 'read');
/** Entries about one service, by its name. */
export const OF_SERVICE = rights(namedRight('service', 'write'), SERVICE_READ);
/** Entries about the intentions of one service, by its name. */
export const OF_INTENTIONS = rights(
  namedRight('intention', 'write'),
  namedRight('intention', 'read'),
);
/** Gateways: part of the mesh, read like a service. */
export const OF_GATEWAY = rights(MESH_WRITE, SERVICE_READ);
/** Entries about the mesh. */
export const OF_MESH = rights(MESH_WRITE, right('mesh', 'read'));
/**
 * Providers of tokens: part of the mesh, and read by whoever runs a service, whose intentions may
 * name them.
 */
export const OF_JWT_PROVIDER = rights(MESH_WRITE, {
  ...right('mesh', 'read'),
  orAnyService: 'write',
});
/** Entries about the mesh that anybody may read. */
export const OPEN_TO_READ = rights(MESH_WRITE, right('none', 'read'));
/** Entries that only the server writes. */
export const BY_SERVER_ONLY = rights(right('never', 'write'), SERVICE_READ);

/** The message for an operation that no token may perform. */
export const NEVER_ALLOWED = 'Permission denied: only writeable by controller';
