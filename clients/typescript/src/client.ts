/** The entry point of what calls a server: operations, errors, decisions of other servers. */
export { AuthZen, type AuthZenOptions } from './authzen.js';
export { type Answer, type CallOptions, type ClientOptions, Conclave } from './calls.js';
export { ConclaveError, type Connection } from './nodes.js';
export * from './operations.js';
