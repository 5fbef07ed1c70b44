/**
 * The parts of an archive, which a thread of their own makes and checks (archive-thread.ts): that
 * takes seconds for a large archive, in which this node leads and answers.
 */
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { refuseIf } from '../../base/errors.js';
import type { ArchiveJob, ArchiveNews, ArchivePart } from './archive-thread.js';

/**
 * Megabytes of the thread's young generation: 32 MB, held twice, is the default of Node 24. Less is
 * not slower here.
 */
const YOUNG_MB = 12;

/**
 * Yields the parts of an archive. Ends once the whole archive is verified. Throws ApiError
 * `invalid` or `too_large` unless it is whole and holds a state.
 */
export async function* partsOf(job: ArchiveJob): AsyncGenerator<ArchivePart> {
  const worker = new Worker(new URL('./archive-thread.js', import.meta.url), {
    workerData: job,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  // Reported below, except for one after the last part was taken.
  worker.on('error', () => {});
  try {
    for await (const [news] of on(worker, 'message', { close: ['exit'] })) {
      const it = news as ArchiveNews;
      if ('end' in it) {
        refuseIf(it.end);
        return;
      }
      yield it;
      worker.postMessage('taken');
    }
    throw new Error('the thread that reads an archive has ended early');
  } finally {
    await worker.terminate();
  }
}
