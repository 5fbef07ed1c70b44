/** The kinds of config entries that can be written. */

/** Kinds by what they are for. */
export const KIND_GROUPS: readonly (readonly [title: string, kinds: readonly string[]])[] = [
  ['Services', ['service-defaults', 'service-intentions']],
  ['Discovery chain', ['service-router', 'service-splitter', 'service-resolver']],
  ['Mesh', ['mesh', 'proxy-defaults', 'exported-services', 'jwt-provider']],
  ['Gateways', ['ingress-gateway', 'terminating-gateway', 'api-gateway', 'bound-api-gateway']],
  ['Routes', ['http-route', 'tcp-route']],
  ['Certificates', ['inline-certificate', 'file-system-certificate']],
];

/** All kinds in that order. */
export const KINDS: readonly string[] = KIND_GROUPS.flatMap(([, kinds]) => kinds);
