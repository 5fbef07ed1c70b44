/** The environment variables of the client: those of this program, then those of Consul. */

/** The variables of each setting, in order of precedence. */
export const VARIABLES = {
  httpAddr: ['CONCLAVE_HTTP_ADDR', 'CONCLAVE_URL', 'CONSUL_HTTP_ADDR'],
  token: ['CONCLAVE_HTTP_TOKEN', 'CONCLAVE_TOKEN', 'CONSUL_HTTP_TOKEN'],
  tokenFile: ['CONCLAVE_HTTP_TOKEN_FILE', 'CONSUL_HTTP_TOKEN_FILE'],
  caFile: ['CONCLAVE_CACERT', 'CONSUL_CACERT'],
  clientCert: ['CONCLAVE_CLIENT_CERT', 'CONSUL_CLIENT_CERT'],
  clientKey: ['CONCLAVE_CLIENT_KEY', 'CONSUL_CLIENT_KEY'],
  tlsServerName: ['CONCLAVE_TLS_SERVER_NAME', 'CONSUL_TLS_SERVER_NAME'],
  ssl: ['CONCLAVE_HTTP_SSL', 'CONSUL_HTTP_SSL'],
  sslVerify: ['CONCLAVE_HTTP_SSL_VERIFY', 'CONSUL_HTTP_SSL_VERIFY'],
  namespace: ['CONCLAVE_NAMESPACE', 'CONSUL_NAMESPACE'],
  output: ['CONCLAVE_OUTPUT'],
  profile: ['CONCLAVE_PROFILE'],
} as const;
