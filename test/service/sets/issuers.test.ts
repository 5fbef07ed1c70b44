import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ApiError, refusal } from '../../../src/base/errors.js';
import { issuerRefusals } from '../../../src/service/sets/issuers.js';

const methods = Array.from({ length: 100 }, (_, n) => n);
const UNUSABLE = refusal('invalid', 'no reply');

describe('the issuers of a set', () => {
  it('are asked a few at a time, and keep the set for no longer than one of them', async () => {
    let asked = 0;
    let [now, most] = [0, 0];
    const check = async () => {
      asked += 1;
      now += 1;
      most = Math.max(most, now);
      await sleep(100);
      now -= 1;
      return UNUSABLE;
    };
    const refused = await issuerRefusals(methods, check, 50);
    expect([asked, most]).to.deep.equal([4, 4]);
    expect(refused.map(([method]) => method)).to.deep.equal(methods);
    expect(refused[3]![1]).to.equal(UNUSABLE);
    expect(refused[4]![1].message).to.include('was not asked');
  });

  it('are refused in the order of their methods, and all asked if they answer', async () => {
    const check = async (n: number) => {
      await sleep(n % 3);
      return n % 10 === 0 ? UNUSABLE : undefined;
    };
    const refused = await issuerRefusals(methods.slice(0, 40), check);
    expect(refused.map(([method]) => method)).to.deep.equal([0, 10, 20, 30]);
  });

  it('that cannot be asked refuse the set once no other is being asked', async () => {
    let now = 0;
    const check = async (n: number) => {
      if (n === 0) throw new ApiError(refusal('too_many', 'later'));
      now += 1;
      await sleep(20);
      now -= 1;
      return undefined;
    };
    const error = await issuerRefusals(methods.slice(0, 8), check).catch((thrown) => thrown);
    expect([error.refusal.code, now]).to.deep.equal(['too_many', 0]);
  });
});
