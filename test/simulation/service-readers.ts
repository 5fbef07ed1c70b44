/**
 * Blocking queries on one server, by the product's own service over the product's own state: what a
 * reader is shown never gets older, and no reader is held on an answer that is out of date.
 */
import { ApiError } from '../../src/base/errors.js';
import type { Replica } from '../../src/replica/replica.js';
import type { ReadOptions } from '../../src/service/common/types.js';
import { readConfig } from '../../src/service/config/config-entries.js';
import { NodeService, type NodeServiceOptions } from '../../src/service/reads/node-service.js';
import { Authorizers, type AuthorizersOptions } from '../../src/service/rights/authorizers.js';
import type { Machine } from '../../src/state/machine.js';
import { INIT_FACT } from '../../src/state/system.js';
import { StorageError } from '../../src/storage/errors.js';
import { Violation } from './invariants.js';
import type { SimLoop } from './loop.js';
import type { RightsParts } from './parts.js';
import { SERVICES } from './product-commands.js';
import { RightsCheck } from './rights-check.js';
import { RightsQueries } from './rights-queries.js';
import type { Storage } from './storage.js';

export interface ServiceReaderParts {
  readonly id: string;
  readonly loop: SimLoop;
  readonly storage: Pick<Storage, 'store'>;
  readonly machine: Machine;
  readonly replica: () => Replica;
  readonly violated: (violation: unknown) => void;
  /** What reads by tokens are judged by. */
  readonly rights: RightsParts | undefined;
  /** Whether its state was ever wrong, so that it may show what never was. */
  readonly everWrong: () => boolean;
}

/** A blocking query that is made again and again. */
interface Reader {
  readonly name: string;
  readonly mode: ReadOptions['mode'];
  /** Of its last answer, and whether that had an entry. */
  index: number;
  isFound: boolean;
  /** It waits for a change, or to be woken since the whole state was replaced. */
  stage: 'asks' | 'held' | 'excused';
  /** The turn in which its answer was first seen to be out of date. */
  outdatedIn: number | undefined;
}

const ANYONE = { tokenKey: null };
const WAIT_MS = 3_000;
const TIMEOUT_MS = 1_000;
/** Until a reader that was refused asks again. */
const AGAIN_MS = 200;
/** Between two reads by tokens. */
const BETWEEN_MS = 50;
/** Turns from a change to the answer, about. */
const TURNS_TO_WAKE = 20;

export class ServiceReaders {
  readonly #parts: ServiceReaderParts;
  readonly #authorizers: Authorizers;
  readonly #rights: RightsCheck;
  /** Answers queries of the feed of rights. */
  readonly feed: RightsQueries;
  readonly #readers: readonly Reader[];
  #stopped = false;

  constructor(parts: ServiceReaderParts) {
    const { loop, storage, machine } = parts;
    this.#parts = parts;
    const options: AuthorizersOptions = {
      view: storage.store,
      datacenter: 'dc1',
      defaultPolicy: 'allow',
      nowMs: () => loop.wall(),
      rightsBytes: 1_000_000,
      inOneTurn: true,
    };
    this.#authorizers = new Authorizers(options);
    this.#rights = new RightsCheck(parts.id, machine, options);
    this.feed = new RightsQueries({
      loop,
      check: this.#rights,
      violated: parts.violated,
      service: this.#serviceOf({ stage: 'asks' }, this.#rights.cached),
      trusted: (mode) => (this.#isExcused(mode) ? undefined : machine.appliedIndex()),
    });
    machine.onChanged((keys) => this.#authorizers.changed(keys));
    machine.onReset(() => {
      this.#authorizers.reset();
      // it is woken once the log agrees
      for (const reader of this.#readers) if (reader.stage === 'held') reader.stage = 'excused';
    });
    this.#readers = SERVICES.map((name, i) => ({
      name,
      mode: i % 2 === 0 ? 'stale' : 'default',
      index: 0,
      isFound: false,
      stage: 'asks',
      outdatedIn: undefined,
    }));
  }

  start(): void {
    const { rights, violated } = this.#parts;
    for (const reader of this.#readers) this.#follow(reader).catch(violated);
    if (rights !== undefined) this.#readByTokens(rights).catch(violated);
  }

  /** No reader waits any more. */
  stop(): void {
    this.#stopped = true;
  }

  /** After some turn of the loop. */
  turned(): void {
    if (this.#stopped) return;
    this.#rights.look();
    const { id, loop, replica } = this.#parts;
    for (const reader of this.#readers) {
      if (reader.stage !== 'held' || !this.#isOutdated(reader) || replica().fault !== undefined)
        reader.outdatedIn = undefined;
      else reader.outdatedIn ??= loop.turns;
      if (loop.turns - (reader.outdatedIn ?? loop.turns) > TURNS_TO_WAKE)
        throw new Violation(
          'no reader is held on an old answer',
          `${id}: the reader of ${reader.name} still has that of ${reader.index}`,
        );
    }
  }

  /** Where there is no entry, the index is that of the last deletion of any: it changes nothing. */
  #isOutdated({ name, index, isFound }: Reader): boolean {
    const view = this.#parts.storage.store;
    const authorizer = this.#authorizers.of(null);
    if (authorizer === undefined) return false;
    const present = query(name)({ view, authorizer });
    return present.index > index && (isFound || present.value !== undefined);
  }

  async #follow(reader: Reader): Promise<void> {
    const service = this.#serviceOf(reader);
    const { id, loop } = this.#parts;
    const { mode, name } = reader;
    while (!this.#stopped && loop.alive) {
      const options = { mode, index: reader.index, waitMs: WAIT_MS, timeoutMs: TIMEOUT_MS };
      try {
        const { index, value } = await service.read(ANYONE, options, query(name));
        if (index < reader.index)
          throw new Violation(
            'indexes do not fall',
            `${id}: ${name} is shown as of ${index}, after ${reader.index}`,
          );
        if (index === reader.index) await this.#pause(1);
        reader.index = index;
        reader.isFound = value !== undefined;
      } catch (error) {
        // a record cannot be read, which ends the process
        if (error instanceof StorageError) return;
        if (!(error instanceof ApiError)) throw error;
        await this.#pause(AGAIN_MS);
      }
    }
  }

  /**
   * Reads by one token after the other. From the acknowledgement of a change on, the rights that it
   * took or gave are what counts.
   */
  async #readByTokens({ acknowledged }: RightsParts): Promise<void> {
    const { id, loop, machine } = this.#parts;
    const check = this.#rights;
    const service = this.#serviceOf({ stage: 'asks' }, check.cached);
    for (let n = 0; !this.#stopped && loop.alive; n++) {
      const mode = n % 2 === 0 ? 'default' : 'consistent';
      const tokenKey = check.next();
      const atLeast = acknowledged();
      const options = { mode, index: 0, waitMs: 0, timeoutMs: TIMEOUT_MS } as const;
      try {
        await service.read({ tokenKey }, options, ({ authorizer }) => {
          check.judge(tokenKey, authorizer);
          if (machine.appliedIndex() < atLeast && !this.#isExcused(mode))
            throw new Violation(
              'rights that were taken are not heeded',
              `${id}: a ${mode} read by rights of ${machine.appliedIndex()}, after ${atLeast}`,
            );
          return { value: '', index: 1, keys: [] };
        });
        await this.#pause(BETWEEN_MS);
      } catch (error) {
        if (error instanceof StorageError) return;
        if (!(error instanceof ApiError)) throw error;
        await this.#pause(AGAIN_MS);
      }
    }
  }

  /** Whether a read may be of a state that is wrong, or too old without a fault of the server. */
  #isExcused(mode: ReadOptions['mode']): boolean {
    const { everWrong, rights } = this.#parts;
    return everWrong() || (mode === 'default' && rights?.leaseInDoubt() === true);
  }

  #pause(ms: number): Promise<void> {
    const { loop } = this.#parts;
    return new Promise((resolve) => {
      loop.after(ms, () => {
        loop.touch();
        resolve();
      });
    });
  }

  /** Each reader has a service of its own, so that it is known whether it is held. */
  #serviceOf(reader: Pick<Reader, 'stage'>, authorizers = this.#authorizers): NodeService {
    const { loop, storage, replica } = this.#parts;
    const touching = (run: () => void) => () => {
      loop.touch();
      run();
    };
    const node: NodeServiceOptions['node'] = {
      view: storage.store,
      pin: () => storage.store.pin(),
      contact: () => ({ knownLeader: true, lastContactMs: 0 }),
      closed: () => replica().availability.refusal,
      write: () => Promise.reject(new Error('readers do not write')),
      barrier: (mode, timeoutMs) =>
        new Promise((resolve, refuse) => {
          replica().barrier(mode, timeoutMs, (why) => {
            loop.touch();
            if (why === undefined) resolve();
            else refuse(new ApiError(why));
          });
        }),
      watch: (keys, wake, untilMs) => {
        if (keys[0] !== INIT_FACT) reader.stage = 'held';
        const end = touching(() => {
          reader.stage = 'asks';
          wake();
        });
        const cancel = replica().watch(keys, end, untilMs);
        return () => {
          reader.stage = 'asks';
          cancel();
        };
      },
    };
    const clock = {
      now: () => loop.now(),
      wall: () => loop.wall(),
      after: (ms: number, run: () => void) => loop.after(ms, touching(run)),
      soon: (run: () => void) => loop.soon(touching(run)),
    };
    return new NodeService({ node, authorizers, clock });
  }
}

const query = (name: string) => readConfig('default', { kind: 'service-defaults', name });
