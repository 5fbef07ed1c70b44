/** Decisions in a process of Go. */
import { goVersion, runGo } from '../clients/run-go.js';
import { figure, row, title } from './report.js';

const LINE = /^BenchmarkDecisions\/(\w+)\/(\d+)\S*\s+\d+\s+(.*)$/gm;
const WHAT: Readonly<Record<string, string>> = {
  rights: 'rights',
  new: 'cache, a new question',
  last: 'cache, a question of the last',
};
const FIGURES = ['p50', 'p99', 'p99.9', 'allocations'];

/** Measures decisions one by one. */
export function measureGoDecisions(): void {
  const version = goVersion();
  if (version === undefined) {
    console.log('\nno go was found in PATH: decisions in a process of Go are not measured');
    return;
  }
  const bench = ['-run', '-', '-bench', 'Decisions', '-benchtime', '1x', './cache'];
  const { stdout, stderr, status } = runGo(['go', 'test', ...bench]);
  if (status !== 0) throw new Error(`go test: ${stdout}${stderr}`);
  title(`Decisions in process, Go (${version}); what reading the clock takes is subtracted`, [
    'what',
    'rules',
    'p50 ns',
    'p99 ns',
    'p99.9 ns',
    'allocations',
  ]);
  for (const [, what, rules, text] of stdout.matchAll(LINE)) {
    const figures = Object.fromEntries(
      text!.split('\t').map((one) => one.trim().split(/\s+/).reverse() as [string, string]),
    );
    const cells = FIGURES.map((name) => figure(Number(figures[name])));
    row([WHAT[what!]!, figure(Number(rules)), ...cells]);
  }
}
