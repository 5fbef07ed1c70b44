/** Lines of the log for people, with texts of strangers in them. */
import { expect } from 'chai';
import { textLine } from '../../src/log/log-text.js';

const HOSTILE = 'a\u009b2J\u202eb\u2028c\u0085d\u2066e\u061cf';
const ESCAPED = 'a\\u009b2J\\u202eb\\u2028c\\u0085d\\u2066e\\u061cf';

describe('config: lines of the log as text', () => {
  const lineOf = (more: object): string =>
    textLine(
      JSON.stringify({ level: 'warn', time: 0, node: 'n1', msg: 'said', event: 'x', ...more }),
      false,
    );

  it('escape what would change a terminal, wherever it stands', () => {
    for (const more of [
      { msg: HOSTILE },
      { node: HOSTILE },
      { reason: HOSTILE },
      { detail: { reason: HOSTILE } },
      { [HOSTILE]: 1 },
    ]) {
      const line = lineOf(more);
      expect(line, JSON.stringify(more)).to.contain(ESCAPED);
      expect(line.slice(0, -1)).not.to.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
  });

  it('keep the lines of an error', () => {
    const line = lineOf({ err: { stack: `Error: ${HOSTILE}\n  at a\n  at b` } });
    expect(line).to.contain(`    Error: ${ESCAPED}\n      at a\n      at b\n`);
  });
});
