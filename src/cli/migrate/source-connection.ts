/** The way to a source, which is asked like a node, and whose answers count whatever they are. */
import { setTimeout as pause } from 'node:timers/promises';
import { Asking } from '../../migrate/source/asking.js';
import {
  type ReadOptions,
  type SourceAnswer,
  type SourceClock,
  type SourceConnection,
  SourceError,
} from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { addressesOf, readToken, type TokenSource } from '../client/environment.js';
import { Api } from '../client/http.js';
import { WAIT_MS } from '../client/watch.js';
import { CliError, interruption } from '../print/error.js';
import type { MigrateOptions } from './options.js';

const TOKEN_VARIABLE = 'MIGRATE_FROM_TOKEN';

/** Returns the client of a source. */
export function sourceApi({ options, io, timeoutMs }: Call<MigrateOptions>): Api {
  const { fromCaFile, fromClientCert, fromClientKey, fromTlsServerName, fromTokenFile } = options;
  const isSet = (io.env[TOKEN_VARIABLE] ?? '') !== '';
  const source: TokenSource =
    fromTokenFile !== undefined
      ? { type: 'file', path: fromTokenFile, from: '--from-token-file' }
      : isSet
        ? { type: 'variable', name: TOKEN_VARIABLE }
        : { type: 'none' };
  const tls = {
    verify: true,
    ...(fromCaFile !== undefined && { caFile: fromCaFile }),
    ...(fromClientCert !== undefined && { clientCert: fromClientCert }),
    ...(fromClientKey !== undefined && { clientKey: fromClientKey }),
    ...(fromTlsServerName !== undefined && { serverName: fromTlsServerName }),
  };
  const addresses = addressesOf(options.from, { option: '--from' });
  const settings = { namespace: undefined, reason: undefined, mode: undefined, timeoutMs };
  const debug = options.debug === true;
  const token = async (): Promise<string | undefined> => readToken(source, io.env);
  return new Api({ ...settings, addresses, tls, token, debug }, io);
}

/** Returns the clock of a command, whose pauses end when it is interrupted. */
export const clockOf = (signal: AbortSignal): SourceClock => ({
  nowMs: () => performance.now(),
  sleep: async (ms) => {
    try {
      await pause(ms, undefined, { signal });
    } catch {
      throw interruption();
    }
  },
});

/** A question to `POST /v1/internal/acl/authorize`, and its answer. */
export interface Decision {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment?: string;
  readonly Allow?: boolean;
}

/** A server that is read: the source, or the target as if it were one. */
export class Way implements SourceConnection {
  /** The requests so far. */
  asked = 0;
  /** How often it may be asked. */
  readonly pace: Pick<ReadOptions, 'clock' | 'rate'>;
  /** Asks it at that rate, and again while it is busy. */
  readonly asking: Asking;
  readonly #api: Api;
  readonly #who: 'source' | 'target';

  constructor(api: Api, who: 'source' | 'target', pace: Way['pace']) {
    this.#api = api;
    this.#who = who;
    this.pace = pace;
    this.asking = new Asking(this, pace.clock, pace.rate);
  }

  get(path: string, query: Readonly<Record<string, string>> = {}): Promise<SourceAnswer> {
    const heldMs = query['wait'] === undefined ? 0 : WAIT_MS;
    return this.#ask('GET', path, { query, heldMs });
  }

  /**
   * Asks whether a token may do things, in a namespace if there are any. Returns `gone` if the
   * server does not know the token any more, and `silent` if it does not answer such questions.
   */
  async decide(
    token: string,
    ns: string | undefined,
    body: readonly Decision[],
  ): Promise<readonly boolean[] | 'gone' | 'silent'> {
    const query = ns === undefined ? {} : { ns };
    const path = '/v1/internal/acl/authorize';
    const send = (): Promise<SourceAnswer> => this.#ask('POST', path, { query, body, token });
    const answer = await this.asking.patiently(send);
    if (answer.status === 404) return 'silent';
    if (answer.status === 403) return 'gone';
    if (answer.status !== 200)
      throw new SourceError(`the ${this.#who} does not answer questions: status ${answer.status}`);
    return (JSON.parse(answer.text) as Decision[]).map(({ Allow }) => Allow === true);
  }

  async #ask(method: string, path: string, more: object): Promise<SourceAnswer> {
    this.asked += 1;
    try {
      return await this.#api.ask(method, path, {
        ...more,
        isRead: true,
        isPlain: true,
        takesAny: true,
      });
    } catch (error) {
      if (!(error instanceof CliError) || error.details.code !== 'unreachable') throw error;
      const isSource = this.#who === 'source';
      const hint = isSource ? 'see --from and the other options that begin with it' : undefined;
      throw new SourceError(`the ${this.#who} cannot be reached: ${error.message}`, hint);
    }
  }
}
