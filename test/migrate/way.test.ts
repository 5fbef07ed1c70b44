/** How a source is asked, whoever asks it. */
import { expect } from 'chai';
import { Way } from '../../src/cli/migrate/source-connection.js';
import { Asking } from '../../src/migrate/source/asking.js';
import { TestClock } from './reading.js';

/** A way to a source that answers with these statuses first, and that allows everything. */
function wayWith(statuses: number[], rate = 1000) {
  const clock = new TestClock();
  const ask = async () => {
    const status = statuses.shift() ?? 200;
    return { status, text: '[{"Allow":true}]', header: () => undefined };
  };
  return { clock, way: new Way({ ask } as never, 'source', { clock, rate }) };
}

describe('the way to a source', () => {
  const question = [{ Resource: 'acl', Access: 'read' }];

  it('repeats a question about rights while the source is busy', async () => {
    const { clock, way } = wayWith([429, 503]);
    expect(await way.decide('secret', undefined, question)).to.deep.equal([true]);
    expect(clock.sleptMs).to.be.at.least(250 + 500);
  });

  it('has one rate for all that ask', async () => {
    const { clock, way } = wayWith([], 50);
    const reading = new Asking(way, clock, 50);
    for (let at = 0; at < 5; at += 1) {
      await reading.get('acl/policies');
      await way.asking.get('acl/identity-blocks');
      await way.decide('secret', undefined, question);
    }
    expect(way.asked).to.equal(15);
    expect(clock.sleptMs).to.be.at.least(14 * 20 - 1);
  });
});
