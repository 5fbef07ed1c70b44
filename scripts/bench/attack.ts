/** What strangers cost the others: anonymous bodies that are long to check. */
import { type Load, load } from './load.js';
import { figure, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';
import { attack, withBareServer } from './strangers.js';

const WARM_UP_SECONDS = 4;
const SECONDS = 12;
const WRITERS = 8;
const STRANGERS = [2, 8];

/**
 * Writes of permitted clients before and while strangers send bodies to all nodes. Strangers at a bare server tell what
 * they cost by sharing the machine alone.
 */
export function measureAttack(): Promise<void> {
  return withCluster(3, async (setting) => {
    title('Permitted writes while strangers send 800 kB each', [
      ...['strangers', 'their requests', 'writes per second', 'p50 ms', 'max ms', 'errors', 'term'],
    ]);
    await writesFor(setting, WARM_UP_SECONDS);
    const told = async (who: string, urls: readonly string[], strangers: number): Promise<void> => {
      const requests = attack({ urls, strangers, seconds: SECONDS });
      const { perSec, p50Ms, maxMs, errors } = await writesFor(setting, SECONDS);
      const term = await setting.metric('conclave_raft_term');
      const figures = [await requests, perSec, p50Ms, maxMs, errors, term];
      row([who, ...figures.map((value) => figure(value))]);
    };
    const urls = setting.targets.map(({ url }) => url);
    await told('0', urls, 0);
    for (const count of STRANGERS)
      await withBareServer((bare) => told(`${count}, at a bare server`, [bare], count));
    for (const count of STRANGERS) await told(String(count), urls, count);
    await told('0', urls, 0);
  });
}

const writesFor = ({ targets }: Setting, seconds: number): Promise<Load> =>
  load({
    ...{ targets, connections: WRITERS, seconds },
    next: (connection, n) => putEntry(`w${connection}`, n),
  });
