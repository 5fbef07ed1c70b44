import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Files below a folder whose name ends in `suffix`, sorted. */
export function globSync(folder: string, suffix: string, { recursive = true } = {}): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
