import { logOf } from './cluster.js';
import { Story } from './story.js';

/** The transcripts are in `stories/*.txt`; `STORIES=write` rewrites them for review. */
describe('raft transcripts', () => {
  it('election', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.chapter('the timer of a runs out first', () => story.tick(10));
    story.chapter('heartbeats', () => story.tick(2));
    story.chapter('a dies; the others wait for the end of their silence', () => {
      story.crash('a');
      story.tick(13);
    });
    story.chapter('a comes back', () => {
      story.restart('a');
      story.tick(2);
    });
    story.matches('election');
  });

  it('lag', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'), {
      maxAppendBytes: 120,
      maxInflightBytes: 120,
    });
    story.given('a leads', () => story.elect('a'));
    story.chapter('c hears nothing while four commands are committed', () => {
      story.isolate('c');
      for (const text of ['w1', 'w2', 'w3', 'w4']) {
        story.propose('a', text);
        story.deliver();
      }
    });
    story.chapter('c is back: a heartbeat finds the gap, the window limits the appends', () => {
      story.heal();
      story.tick(2);
    });
    story.logs();
    story.matches('lag');
  });

  it('conflict', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.chapter('a leads, and alone has three commands', () => {
      story.elect('a');
      story.isolate('a');
      story.propose('a', 'lost1', 'lost2', 'lost3');
      story.deliver();
    });
    story.chapter('b leads the others', () => {
      story.elect('b');
      story.propose('b', 'kept');
      story.deliver();
    });
    story.logs();
    story.chapter('a is back', () => {
      story.heal();
      story.tick(4);
    });
    story.logs();
    story.matches('conflict');
  });

  it('membership', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.given('a leads', () => story.elect('a'));
    story.chapter('d joins as a learner', () => {
      story.add({ ...story.get('a').options, id: 'd' });
      story.change('a', 'a', 'b', 'c', 'd?');
      story.deliver();
    });
    story.chapter('d is promoted', () => {
      story.change('a', 'a', 'b', 'c', 'd');
      story.deliver();
    });
    story.chapter('a removes itself and names its successor', () => {
      story.change('a', 'b', 'c', 'd');
      story.deliver();
    });
    story.matches('membership');
  });

  it('transfer', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.given('a leads', () => story.elect('a'));
    story.chapter('b misses a command', () => {
      story.cut('a', 'b');
      story.propose('a', 'w1');
      story.deliver();
      story.heal();
    });
    story.chapter('a transfers leadership to b, which first has to catch up', () => {
      story.step('a', { type: 'transfer', to: 'b' });
      story.tick(2);
    });
    story.matches('transfer');
  });

  it('snapshot', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.chapter('a leads; c is cut off, and the log is compacted beyond what c has', () => {
      story.elect('a');
      story.isolate('c');
      story.propose('a', 'w1', 'w2');
      story.deliver();
      story.compact('a');
    });
    story.chapter('c is back', () => {
      story.heal();
      story.tick(2);
    });
    story.chapter('c continues after the snapshot', () => {
      story.propose('a', 'w3');
      story.deliver();
    });
    story.logs();
    story.matches('snapshot');
  });

  it('restart of all', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.chapter('a leads and commits a command', () => {
      story.elect('a');
      story.propose('a', 'w1');
      story.deliver();
    });
    story.chapter('all crash and come back', () => {
      for (const id of ['a', 'b', 'c']) story.crash(id);
      for (const id of ['a', 'b', 'c']) story.restart(id);
    });
    story.chapter('b and c keep the silence that they may have promised to a leader', () =>
      story.tick(10),
    );
    story.matches('restart');
  });

  it('read', () => {
    const story = new Story(['a', 'b', 'c'], logOf('a b c'));
    story.given('a leads', () => story.elect('a'));
    story.chapter('a read takes a round', () => {
      story.step('a', { type: 'read', ids: [1], mode: 'quorum' });
      story.deliver();
      story.lines.push(`released ${JSON.stringify(story.get('a').released)}`);
    });
    story.chapter('the round has extended the lease: the next read needs no round', () => {
      story.step('a', { type: 'read', ids: [2], mode: 'lease' });
      story.deliver();
      story.lines.push(`released ${JSON.stringify(story.get('a').released)}`);
    });
    story.matches('read');
  });
});
