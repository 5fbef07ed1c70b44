/** The hooks of Node that put counters into modules. They run in a thread of their own. */
import type { LoadHook } from 'node:module';
import { withCounters } from './counting.js';

/** Changes the text of a module on its way from the disk. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const { format, source } = loaded;
  if (format !== 'module' || source === undefined || source === null) return loaded;
  const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();
  return { ...loaded, source: withCounters(url, text) };
};
