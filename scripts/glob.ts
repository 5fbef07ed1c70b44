import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the files below a folder whose names end in `suffix`, sorted. */
export function globSync(folder: string, suffix: string, { recursive = true } = {}): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
