/** The order in which the server and its client write config entries. */
import type { Kind } from '../kinds/types.js';

/** The order of kinds in which entries that are connected can be created one after the other. */
export const KIND_ORDER: readonly Kind[] = [
  'proxy-defaults',
  'mesh',
  'jwt-provider',
  'inline-certificate',
  'file-system-certificate',
  'service-defaults',
  'service-resolver',
  'service-splitter',
  'service-router',
  'ingress-gateway',
  'terminating-gateway',
  'api-gateway',
  'http-route',
  'tcp-route',
  'exported-services',
  'service-intentions',
];
