/** What a node says in its log once it serves: the next step, and what is dangerous. */
import { isLoopback } from '../base/address.js';
import { addressOf, type Config } from '../config/config.js';
import type { Log } from '../log/log.js';

/** Logs how the first token is created. */
export function tellFirstStep({ acl, http }: Config, url: string, log: Log): void {
  const { bootstrapSecret: secret, bootstrapSecretFile: file } = acl;
  const more = [
    ...(http.tls === undefined ? [] : ['--ca-file CA']),
    ...(secret === undefined && file === undefined ? [] : ['--token-file FILE_OF_THE_SECRET']),
  ];
  const command = ['conclave acl bootstrap --http-addr', url, ...more].join(' ');
  const event = 'first_token_missing';
  log.info({ event, command }, `there is no token yet; create the first one: ${command}`);
}

/** Logs what in the configuration lets others read secrets. */
export function warnOfDangers(config: Config, log: Log): void {
  if (config.raft.insecure)
    log.warn(
      { event: 'members_unprotected' },
      'raft.insecure: every user of this machine can join and read every secret',
    );
  if (config.http.tls === undefined && !isLoopback(config.http.host))
    log.warn(
      { event: 'api_unprotected' },
      'the API is open to other machines without TLS: tokens travel in the clear',
    );
}

/** Returns the address at which the API is served. */
export function urlOf({ http: { host, tls } }: Config, port: number): string {
  return `${tls === undefined ? 'http' : 'https'}://${addressOf({ host, port })}`;
}
