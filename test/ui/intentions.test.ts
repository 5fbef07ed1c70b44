/** Who may call whom. */
import { expect } from 'chai';
import { ANY, Rules } from '../../src/ui/intentions/decide.js';

const entry = (Name: string, ...Sources: readonly (readonly [string, string])[]) => ({
  Name,
  Sources: Sources.map(([source, Action]) => ({ Name: source, Action })),
});

describe('ui: intentions', () => {
  it('are decided by the exact destination first, then by the exact source', () => {
    const rules = new Rules(
      [
        entry('*', ['*', 'deny'], ['web', 'allow']),
        entry('api', ['*', 'allow'], ['web', 'deny']),
        entry('db', ['api', 'allow']),
      ],
      true,
    );
    expect(rules.decide('web', 'api')).to.deep.equal({
      is: 'deny',
      by: { entry: 'api', source: 'web' },
    });
    expect(rules.decide('job', 'api').by).to.deep.equal({ entry: 'api', source: '*' });
    expect(rules.decide('web', 'db').by).to.deep.equal({ entry: '*', source: 'web' });
    expect(rules.decide('job', 'db')).to.deep.equal({
      is: 'deny',
      by: { entry: '*', source: '*' },
    });
    expect(rules.destinations).to.deep.equal(['api', 'db', ANY]);
    expect(rules.sources).to.deep.equal(['api', 'web', ANY]);
  });

  it('are decided by the default policy where none speaks', () => {
    expect(new Rules([], true).decide('a', 'b')).to.deep.equal({ is: 'allow' });
    expect(new Rules([entry('b', ['c', 'allow'])], false).decide('a', 'b').is).to.equal('deny');
  });

  it('are decided request by request where a source has permissions', () => {
    const rules = new Rules([{ Name: 'b', Sources: [{ Name: 'a', Permissions: [{}] }] }], false);
    expect(rules.decide('a', 'b').is).to.equal('requests');
  });

  it('tell sources of other namespaces and peers apart', () => {
    const Sources = [
      { Name: 'a', Action: 'allow', Namespace: 'team' },
      { Name: 'a', Action: 'deny', Namespace: 'default' },
      { Name: 'a', Action: 'deny', Peer: 'east' },
    ];
    const rules = new Rules([{ Name: 'b', Sources }], false);
    expect(rules.sources).to.deep.equal(['a', 'a (east)', 'team/a']);
    expect(rules.decide('team/a', 'b').is).to.equal('allow');
  });

  it('of any service do not decide about those of a peer', () => {
    const Sources = [
      { Name: '*', Action: 'allow' },
      { Name: '*', Action: 'deny', Peer: 'west' },
      { Name: 'a', Action: 'allow', Peer: 'east' },
    ];
    const rules = new Rules([{ Name: 'b', Sources }, entry('*', ['*', 'allow'])], false);
    expect(rules.decide('a (east)', 'c')).to.deep.equal({ is: 'deny' });
    expect(rules.decide('a (west)', 'b').by).to.deep.equal({ entry: 'b', source: '* (west)' });
    expect(rules.decide('a', 'b').is).to.equal('allow');
  });
});
