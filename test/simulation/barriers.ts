/** The read barriers of one process, as its node shares them among readers. */
import { SharedBarriers } from '../../src/node/shared-barriers.js';
import type { Replica } from '../../src/replica/replica.js';
import type { SimLoop } from './loop.js';

/** Barriers whose promises are kept before anything else happens. */
export function sharedBarriers(replica: Replica, loop: SimLoop): SharedBarriers {
  const barrier: Replica['barrier'] = (mode, timeoutMs, done) =>
    replica.barrier(mode, timeoutMs, (why) => {
      loop.touch();
      done(why);
    });
  return new SharedBarriers({ barrier, readRound: (mode) => replica.readRound(mode) }, loop);
}
