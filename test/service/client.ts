/** A Solo that is served over HTTP, with a client of it: the node in this process of most tests. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Listener } from '../../src/http/listener/listener.js';
import type { HttpOptions } from '../../src/http/options.js';
import type { AclParts } from '../../src/http/routes/common.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import type { Route } from '../../src/http/routes/types.js';
import type { Command } from '../../src/state/types.js';
import { type Answer, Client } from '../support/client.js';
import { partsOf, serve } from './serve.js';
import { MANAGEMENT_SECRET, Solo } from './solo.js';

export class SoloClient extends Client {
  readonly solo: Solo;
  readonly listener: Listener;

  constructor(solo: Solo, listener: Listener) {
    super(`http://127.0.0.1:${listener.port}`, MANAGEMENT_SECRET);
    this.solo = solo;
    this.listener = listener;
  }

  static async open(
    more: readonly Route[] = [],
    solo = new Solo(),
    given: Partial<HttpOptions> = {},
    parts: Partial<AclParts> = {},
  ): Promise<SoloClient> {
    return new SoloClient(solo, await serve(solo, more, given, parts));
  }

  /** Opens a node that keeps a history, of its own routes too. */
  static withHistory(level = 3): Promise<SoloClient> {
    const solo = new Solo();
    if (level > 1) solo.must({ type: 'system.level', v: 1, level } as Command);
    return SoloClient.open(historyRoutes(partsOf(solo)), solo);
  }

  close(): Promise<void> {
    return this.listener.close(0);
  }

  /**
   * Holds a read at its present index and makes a change. Returns the response before the change,
   * and the one that it woke; `woken` is undefined if the read is still waiting.
   */
  async across(
    path: string,
    change: () => Promise<unknown>,
    token?: string,
    headers: Record<string, string> = {},
  ): Promise<{ readonly before: Answer; readonly woken: Answer | undefined }> {
    const before = await this.ask(`GET ${path}`, undefined, token, { headers });
    const blocking = `${path}${path.includes('?') ? '&' : '?'}index=${before.index}&wait=60s`;
    const { watches } = this.solo;
    const gone = new AbortController();
    let woken: Answer | undefined;
    const more = { signal: gone.signal, headers };
    const held = this.ask(`GET ${blocking}`, undefined, token, more).then(
      (answer) => {
        woken = answer;
      },
      () => {},
    );
    const settled = async (): Promise<void> => {
      while (watches.size === 0 && woken === undefined) await nextTurn();
    };
    await settled();
    await change();
    await settled();
    const seen = woken;
    gone.abort();
    await held;
    return { before, woken: seen };
  }
}
