/** A way to a source over HTTP, and a clock that does not wait. */
import { convert } from '../../src/migrate/source/convert.js';
import { readSource } from '../../src/migrate/source/read.js';
import type {
  Converted,
  ConvertOptions,
  ReadOptions,
  SourceConnection,
  SourceState,
} from '../../src/migrate/source/types.js';
import { send } from '../support/client.js';
import type { Recorded } from './stand-in.js';

/** Returns a connection to a source. */
export const connectionTo = (url: string, token: string): SourceConnection => ({
  async get(path, query = {}) {
    const more = new URLSearchParams(query).toString();
    const call = `GET ${path}${more === '' ? '' : `?${more}`}`;
    const { status, text, headers } = await send(url, call, {
      headers: { 'X-Consul-Token': token },
    });
    return { status, text, header: (name) => headers[name] as string | undefined };
  },
});

/** A clock that stands still until somebody sleeps. */
export class TestClock {
  sleptMs = 0;
  nowMs = (): number => this.sleptMs;
  async sleep(ms: number): Promise<void> {
    this.sleptMs += ms;
  }
}

/** Reads a source with the options of the command's defaults. */
export const read = (
  { url, token }: { readonly url: string; readonly token: string },
  more: Partial<ReadOptions> = {},
): Promise<SourceState> =>
  readSource(connectionTo(url, token), {
    clock: new TestClock(),
    rate: 1000,
    namespaces: 'all',
    ...more,
  });

/** Returns a source as it would be read. */
export const stateOf = (recorded: Partial<Recorded>, more: object = {}): SourceState => {
  const own = (list: readonly object[] = []) =>
    list.map((one) => ({ Namespace: 'default', ...one }));
  return {
    info: { Indexes: {}, isOurs: false, hasNamespaces: false, Datacenter: 'dc1', ...more },
    namespaces: own(recorded.Namespaces),
    policies: own(recorded.Policies),
    roles: own(recorded.Roles),
    authMethods: own(recorded.AuthMethods),
    bindingRules: own(recorded.BindingRules),
    tokens: own(recorded.Tokens),
    entries: own(recorded.Entries),
    findings: [],
  };
};

/** The time at which tests convert. */
export const NOW = new Date('2026-02-01T00:00:00Z');

/** Converts a source with everything that can be asked for, but without mending. */
export const converted = (source: SourceState, more: Partial<ConvertOptions> = {}): Converted =>
  convert(source, {
    now: NOW,
    withSecrets: true,
    loginTokens: true,
    mend: false,
    oidc: true,
    ...more,
  });
