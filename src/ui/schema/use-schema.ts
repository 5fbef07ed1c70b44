/** The schemas of bodies, read from the server once each. */
import { read } from '../api/client.js';
import { useLoad } from '../parts/load.js';
import type { Schema } from './schema.js';

const known = new Map<string, Promise<Schema | undefined>>();

/** Reads a schema. Without one there is no help, and the server still checks what is written. */
function schemaOf(path: string): Promise<Schema | undefined> {
  const found =
    known.get(path) ??
    read<Schema>(path, { once: true, ns: '' }).catch(() => {
      known.delete(path);
      return undefined;
    });
  known.set(path, found);
  return found;
}

/** Returns the schema at a path of the API once it is there. */
export function useSchema(path: string | undefined): Schema | undefined {
  const { value } = useLoad(
    async () => (path === undefined ? undefined : { path, schema: await schemaOf(path) }),
    [path],
  );
  return value?.path === path ? value?.schema : undefined;
}
