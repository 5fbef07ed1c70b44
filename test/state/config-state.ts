/** A state of config entries only, in a map: commands go straight to their handlers. */

import type { About } from '../../src/base/errors.js';
import type { Kind } from '../../src/kinds/types.js';
import { type ConfigDelete, type ConfigSet, configHandlers } from '../../src/state/config.js';
import { Overlay } from '../../src/state/draft.js';
import { keys } from '../../src/state/keys.js';
import { LEVEL_KEY, SUPPORTED_LEVEL } from '../../src/state/levels.js';
import type { Change, Handler } from '../../src/state/types.js';
import { decodeEntry } from '../kinds/decode-entry.js';
import { MapStore } from './store.js';

export type Body = Readonly<Record<string, unknown>> & { readonly Kind: Kind };
/** Entries as the API returns them. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into entries freely
export type Answered = any;

interface Outcome {
  /** `true`, `false`, `{}`, or the code of the refusal. */
  readonly value: string;
  /** The text of a refusal. */
  readonly message: string;
  readonly pointer?: string;
  /** The keys that changed. */
  readonly changed: readonly string[];
}

export class ConfigState {
  readonly store: MapStore;
  /** What the last refusal is about. */
  about: About | undefined;
  index = 10;
  /** The time of the next command. */
  at = '2026-01-01T00:00:00.000Z';

  constructor(namespaces: readonly string[] = ['default'], level = SUPPORTED_LEVEL) {
    this.store = new MapStore([
      [LEVEL_KEY, JSON.stringify({ Level: level, Index: 1 })],
      ...namespaces.map(
        (name) => [keys.namespace(name), JSON.stringify({ Name: name })] as [string, string],
      ),
    ]);
  }

  /** Applies a body as a client sends it; throws if the body itself is refused. */
  set(body: Body, options: { cas?: number; ns?: string } = {}): Outcome {
    const ns = options.ns ?? 'default';
    const decoded = decodeEntry(body, { namespace: ns });
    if (!decoded.ok) throw new Error(decoded.refusal.message);
    const { entry } = decoded;
    const command: ConfigSet = {
      ...{ type: 'config.set', v: 1, ns, kind: entry.Kind, name: entry.Name },
      ...{ entry: JSON.stringify(entry), cas: options.cas ?? null },
      ...{ at: this.at, datacenter: 'dc1' },
    };
    return this.#run(configHandlers['config.set'], command);
  }

  /** Applies a body that must be written. */
  must(body: Body, options: { ns?: string } = {}): void {
    const { value, message } = this.set(body, options);
    if (value !== 'true') throw new Error(`${body.Kind}: ${value} ${message}`);
  }

  delete(kind: Kind, name: string, options: { cas?: number; ns?: string } = {}): Outcome {
    const command: ConfigDelete = {
      ...{ type: 'config.delete', v: 1, ns: options.ns ?? 'default', kind, name },
      ...{ cas: options.cas ?? null, at: this.at, datacenter: 'dc1' },
    };
    return this.#run(configHandlers['config.delete'], command);
  }

  text(kind: Kind, name: string, ns = 'default'): string | undefined {
    return this.store.get(keys.config(ns, kind, name));
  }

  read(kind: Kind, name: string, ns = 'default'): Answered {
    const text = this.text(kind, name, ns);
    return text === undefined ? undefined : JSON.parse(text);
  }

  #run<C>(handler: Handler<C>, command: C): Outcome {
    this.index += 1;
    const overlay = new Overlay(this.store);
    const outcome = handler({ draft: overlay, index: this.index }, command);
    if (!outcome.ok) {
      const { code, message, pointer, about } = outcome.refusal;
      this.about = about;
      return { value: code, message, ...(pointer !== undefined && { pointer }), changed: [] };
    }
    const changes: Change[] = overlay.changes();
    this.store.commit(changes);
    return { value: outcome.value ?? '', message: '', changed: changes.map(([key]) => key) };
  }
}

export const defaults = (Name: string, Protocol: string, more: object = {}): Body => ({
  Kind: 'service-defaults',
  Name,
  Protocol,
  ...more,
});
export const router = (Name: string, ...to: object[]): Body => ({
  Kind: 'service-router',
  Name,
  Routes: to.map((Destination) => ({ Destination })),
});
export const splitter = (Name: string, ...to: object[]): Body => ({
  Kind: 'service-splitter',
  Name,
  Splits: to.map((split) => ({ Weight: 100 / to.length, ...split })),
});
export const resolver = (Name: string, more: object = {}): Body => ({
  Kind: 'service-resolver',
  Name,
  ...more,
});
export const proxies = (protocol?: string, more: object = {}): Body => ({
  Kind: 'proxy-defaults',
  ...(protocol === undefined ? {} : { Config: { protocol } }),
  ...more,
});
export const ingress = (Name: string, Protocol: string, ...services: string[]): Body => ({
  Kind: 'ingress-gateway',
  Name,
  Listeners: [{ Port: 80, Protocol, Services: services.map((one) => ({ Name: one })) }],
});
export const intentions = (Name: string): Body => ({
  Kind: 'service-intentions',
  Name,
  Sources: [{ Name: 'x', Permissions: [{ Action: 'allow', HTTP: { PathExact: '/' } }] }],
});
export const exported = (...names: string[]): Body => ({
  Kind: 'exported-services',
  Name: 'default',
  Services: names.map((name) => ({ Name: name, Consumers: [{ Peer: 'east' }] })),
});
