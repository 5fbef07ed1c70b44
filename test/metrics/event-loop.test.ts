import { expect } from 'chai';
import { EventLoopDelay } from '../../src/metrics/event-loop.js';

describe('metrics: the sampler of the event loop', () => {
  const delayAfter = (...steps: number[]) => {
    const delay = new EventLoopDelay();
    for (const step of steps) delay.sampled(step - 20, 20);
    return delay.histogram;
  };

  it('counts how late each sample is', () => {
    const { count, sum, max } = delayAfter(20, 20.5, 24);
    expect(count).to.equal(3);
    expect(sum).to.be.closeTo(0.0045, 1e-9);
    expect(max).to.be.closeTo(0.004, 1e-9);
  });

  it('counts the samples that a stall hid, so that it weighs as long as it took', () => {
    const { count, sum } = delayAfter(105);
    expect(count).to.equal(5);
    expect(sum).to.be.closeTo(0.085 + 0.065 + 0.045 + 0.025 + 0.005, 1e-9);
  });

  it('counts a process that stood still for days as 500 samples at most', () => {
    expect(delayAfter(3 * 86_400_000).count).to.equal(500);
  });
});
