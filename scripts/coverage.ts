/** Which functions of the product a run has never called. */
import { Session } from 'node:inspector';

/** The folders below `src/` that worlds are to call whole. */
const CORE = /\/dist\/src\/((?:raft|replica|storage|transport|node|state)\/.*)\.js$/;
/** Characters of a function that is worth a line: shorter ones return something fixed. */
const CHARS_MIN = 60;

/** Begins to note which functions are called. Returns what lists those that were not, by file. */
export function startCoverage(): () => Map<string, string[]> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
  return () => {
    const uncalled = new Map<string, string[]>();
    session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) throw error;
      for (const { url, functions } of taken.result) {
        const file = CORE.exec(url)?.[1];
        if (file === undefined) continue;
        const names = functions
          .filter(({ functionName, ranges: [range] }) => {
            const { count, startOffset, endOffset } = range!;
            return count === 0 && functionName !== '' && endOffset - startOffset > CHARS_MIN;
          })
          .map(({ functionName }) => functionName);
        if (names.length > 0) uncalled.set(file, [...new Set(names)]);
      }
    });
    return uncalled;
  };
}
