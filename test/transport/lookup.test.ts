import type { LookupFunction } from 'node:net';
import { expect } from 'chai';
import { patientLookup } from '../../src/transport/lookup.js';

type Callback = Parameters<LookupFunction>[2];

describe('transport: lookups of host names', () => {
  let asked: { readonly host: string; readonly answer: Callback }[];
  let timers: (() => void)[];
  let lookup: LookupFunction;
  let seen: string[];
  beforeEach(() => {
    asked = [];
    timers = [];
    seen = [];
    lookup = patientLookup(
      (host, _options, answer) => asked.push({ host, answer }),
      (_ms, run) => {
        timers.push(run);
        return () => timers.splice(timers.indexOf(run), 1);
      },
    );
  });
  const ask = (host: string, family = 0): void =>
    lookup(host, { family }, (error, address) => {
      seen.push(error === null ? `${host} ${String(address)}` : `${host} ${error.message}`);
    });
  const patienceEnds = (): void => {
    for (const run of [...timers]) run();
  };

  it('answer as soon as the name server does', () => {
    ask('a');
    asked[0]!.answer(null, '10.0.0.1', 4);
    expect(seen).to.deep.equal(['a 10.0.0.1']);
    expect(timers).to.deep.equal([]);
  });

  it('send one request for a name at a time', () => {
    ask('a');
    ask('a');
    ask('b');
    ask('a', 6);
    expect(asked.map(({ host }) => host)).to.deep.equal(['a', 'b', 'a']);
    asked[0]!.answer(null, '10.0.0.1', 4);
    expect(seen).to.deep.equal(['a 10.0.0.1', 'a 10.0.0.1']);
    ask('a');
    expect(asked).to.have.length(4);
  });

  it('use a late answer for the next connection', () => {
    ask('a');
    patienceEnds();
    expect(seen).to.deep.equal([]);
    asked[0]!.answer(null, '10.0.0.1', 4);
    seen = [];
    ask('a');
    patienceEnds();
    expect(seen).to.deep.equal(['a 10.0.0.1']);
    asked[1]!.answer(null, '10.0.0.2', 4);
    expect(seen).to.deep.equal(['a 10.0.0.1']);
    ask('a');
    patienceEnds();
    expect(seen[1]).to.equal('a 10.0.0.2');
  });

  it('use the last address if the name server fails, and say so without one', () => {
    ask('a');
    asked[0]!.answer(new Error('no server'), '');
    expect(seen).to.deep.equal(['a no server']);
    ask('a');
    asked[1]!.answer(null, '10.0.0.1', 4);
    ask('a');
    asked[2]!.answer(new Error('no server'), '');
    expect(seen.slice(1)).to.deep.equal(['a 10.0.0.1', 'a 10.0.0.1']);
  });
});
