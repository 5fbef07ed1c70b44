/** What this program is: its version, and the commit and time of its build. */
import { readFileSync } from 'node:fs';

/** A release. */
export interface Release {
  /** The version in package.json. */
  readonly version: string;
  /** The commit that was built; empty if it is not known, or if files had changed since. */
  readonly sha: string;
  /** Time of that commit, or else of the build, as RFC 3339 text in whole seconds. */
  readonly date: string;
}

/** What stands for a time that is not known, as in Consul. */
const UNKNOWN_DATE = '1970-01-01T00:00:01Z';

/** Reads the release. `scripts/setup.mjs` writes `build.json` into the folder of the build. */
export function releaseOf(): Release {
  const { version } = read('../../package.json') as { version: string };
  const { sha = '', date = UNKNOWN_DATE } = read('../build.json') as Partial<Release>;
  return { version, sha, date };
}

/** Returns the JSON object in a file near this one, an empty object if there is none. */
function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
