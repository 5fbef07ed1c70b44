/** Where the browser of this machine is. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Returns the path of a Chromium: that in `CHROMIUM`, or one in `PATH`; undefined without one. */
export function findChromium(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const inPath = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...(CHROMIUM ? [CHROMIUM] : inPath)].find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
