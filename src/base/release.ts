/** What this program is: its version, and the commit and time of its build. */
import { existsSync, readFileSync } from 'node:fs';

/** A release. */
export interface Release {
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
  // The bundle lies one folder higher than this file as it is compiled for tests.
  const build = ['..', '../..'].find((path) => existsSync(at(`${path}/build.json`))) ?? '..';
  const { version } = read(`${build}/../package.json`) as { version: string };
  const { sha = '', date = UNKNOWN_DATE } = read(`${build}/build.json`) as Partial<Release>;
  return { version, sha, date };
}

const at = (path: string): URL => new URL(path, import.meta.url);

/** Returns the JSON object in a file, an empty object if there is none. */
const read = (path: string): unknown =>
  existsSync(at(path)) ? JSON.parse(readFileSync(at(path), 'utf8')) : {};
