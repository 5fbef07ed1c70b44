import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((dir) => join(dir, 'promtool'))
  .find((file) => existsSync(file));

/** Prometheus' own checks, if they are on the PATH. `note` is for titles of tests. */
export const promtool = {
  path,
  note: path === undefined ? ' (not checked: there is no promtool here)' : '',
};
