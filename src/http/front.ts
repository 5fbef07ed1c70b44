import {
  EVENT_PLACES,
  type EventLimits,
  HeldCalls,
  Places,
  Streams,
} from './limits/concurrency.js';
import { PendingBodies } from './limits/pending-bodies.js';
import { Rates, RefusalCounts } from './limits/rates.js';
import type { HttpOptions } from './options.js';
import { type BodyReader, bodyReader } from './request/body.js';
import { LastRead } from './response/prepared-response.js';
import { RefusalSender } from './response/refusals.js';
import { type HeaderNames, headerNames } from './response/response-headers.js';

/** What all requests of one front end share. */
export interface Front {
  readonly options: HttpOptions;
  readonly names: HeaderNames;
  /** Names of request headers in lower case, by what they carry; our own prefix comes first. */
  readonly incoming: Readonly<
    Record<'token' | 'namespace' | 'partition' | 'reason', readonly string[]>
  >;
  readonly held: HeldCalls;
  readonly streams: Streams;
  readonly events: Places<keyof EventLimits>;
  readonly rates: Rates;
  readonly refused: RefusalCounts;
  readonly refusals: RefusalSender;
  readonly lastRead: LastRead;
  readonly readBody: BodyReader;
  /** Reads the bodies of sets. */
  readonly readLargeBody: BodyReader;
  /** Reads the bodies of unknown callers. */
  readonly readSmallBody: BodyReader;
}

/** Makes the shared parts of a front end. */
export function makeFront(options: HttpOptions): Front {
  const { limits } = options;
  const prefixes = [...new Set([options.headerPrefix.toLowerCase(), 'x-consul'])];
  const under = (name: string): string[] => prefixes.map((prefix) => `${prefix}-${name}`);
  const refused = new RefusalCounts();
  return {
    options,
    names: headerNames(options),
    incoming: {
      token: under('token'),
      namespace: under('namespace'),
      partition: under('partition'),
      reason: under('reason'),
    },
    held: new HeldCalls(limits, refused),
    streams: new Streams(limits.streamsPerToken, refused),
    events: new Places(EVENT_PLACES, limits, refused),
    rates: new Rates(limits, refused),
    refused,
    refusals: new RefusalSender(limits, refused),
    lastRead: new LastRead(),
    readBody: bodyReader({ bytes: limits.bodyBytes, setting: 'limits.bodyBytes' }),
    readLargeBody: bodyReader({ bytes: limits.planBytes, setting: 'limits.planBytes' }),
    readSmallBody: bodyReader({
      bytes: Math.min(limits.anonymousBodyBytes, limits.bodyBytes),
      setting: 'limits.anonymousBodyBytes',
      pending: new PendingBodies(limits.pendingBodyBytes, refused),
    }),
  };
}
