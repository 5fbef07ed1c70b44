/** Decisions in a process of Go. */
import { goVersion, runGo } from '../clients/run-go.js';
import { row, title } from './report.js';

const LINE = /^BenchmarkDecisions\/(\w+)\/(\d+)\S*\s+\d+\s+(.*)$/gm;
const WHAT: Readonly<Record<string, string>> = {
  rights: 'package `rights`',
  cache: 'package `cache`, a question asked before',
};

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
  title(`Decisions in the process, ${version}, reading the clock included`, [
    'what',
    'rules',
    'p50 ns',
    'p99 ns',
    'allocations',
  ]);
  for (const [, what, rules, text] of stdout.matchAll(LINE)) {
    const figures = Object.fromEntries(
      text!.split('\t').map((one) => one.trim().split(/\s+/).reverse() as [string, string]),
    );
    const cells = ['p50-ns', 'p99-ns', 'allocations'].map((name) => String(Number(figures[name])));
    row([WHAT[what!]!, Number(rules).toLocaleString('en-US'), ...cells]);
  }
}
