/**
 * `node:http`, not imported as a module: that would also load the WebSocket and the fetch of newer
 * versions of Node. In each node they would take 10 MB, and 20 ms of a start.
 */
const http = process.getBuiltinModule('node:http');

/** As in `node:http`. */
export const Agent = http.Agent;
/** As in `node:http`. */
export const createServer = http.createServer;
/** As in `node:http`. */
export const request = http.request;
/** As in `node:http`. */
export const STATUS_CODES = http.STATUS_CODES;
