import { expect } from 'chai';
import { Erasure } from '../../../src/replica/log/erasure.js';
import { FORGOTTEN_FACT } from '../../../src/state/request-forget.js';
import { FakeLog } from '../fakes.js';

/** One server, whose state says up to which index results were forgotten. */
class Server {
  readonly log = new FakeLog();
  isLeader = false;
  forgotten = 0;
  /** What the random numbers are. */
  part = 0.5;
  /** Erasures that have begun, and how each ends. */
  readonly begun: (() => void)[] = [];
  readonly cuts: number[] = [];
  nowMs = 0;
  #erasure: Erasure;

  constructor() {
    this.#erasure = this.#start();
  }

  restart(): void {
    this.#erasure = this.#start();
  }

  /** Lets time pass in ticks. */
  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 25) {
      this.nowMs += 25;
      this.#erasure.tick(this.nowMs);
    }
  }

  #start(): Erasure {
    return new Erasure({
      view: {
        get: (key) =>
          key === FORGOTTEN_FACT && this.forgotten > 0
            ? JSON.stringify({ Index: this.forgotten })
            : undefined,
        keys: () => [],
      },
      log: this.log,
      compaction: {
        cutThrough: (index) => {
          this.cuts.push(index);
          const meta = { index, term: 1, configuration: { members: [] } };
          this.log.compact(meta, () => {});
        },
      },
      isLeader: () => this.isLeader,
      random: () => this.part,
      spreadMs: 1000,
      erase: (done) => this.begun.push(done),
    });
  }
}

describe('erasure', () => {
  it('cuts the log and begins after a random part of the time', () => {
    const server = new Server();
    server.pass(500);
    server.forgotten = 10;
    server.pass(500);
    expect([server.cuts, server.begun.length]).to.deep.equal([[], 0]);
    server.pass(100);
    expect([server.cuts, server.begun.length]).to.deep.equal([[10], 1]);
  });

  it('begins last on the leader', () => {
    const server = new Server();
    server.isLeader = true;
    server.forgotten = 10;
    server.pass(1000);
    expect(server.begun.length).to.equal(0);
    server.pass(100);
    expect(server.begun.length).to.equal(1);
  });

  it('waits no longer because more is forgotten meanwhile, and erases all of it', () => {
    const server = new Server();
    server.forgotten = 10;
    server.pass(400);
    server.forgotten = 20;
    server.pass(200);
    expect([server.cuts, server.begun.length]).to.deep.equal([[20], 1]);
    server.begun[0]!();
    server.pass(5000);
    expect(server.begun.length).to.equal(1);
  });

  it('runs one at a time; the time of the next one counts from when it became necessary', () => {
    const server = new Server();
    server.forgotten = 10;
    server.pass(600);
    server.forgotten = 20;
    server.pass(2000);
    expect(server.begun.length).to.equal(1);
    server.begun[0]!();
    server.pass(50);
    expect([server.cuts, server.begun.length]).to.deep.equal([[10, 20], 2]);
  });

  it('is done again at once after a start, which may have followed an interrupted one', () => {
    const server = new Server();
    server.forgotten = 10;
    server.pass(600);
    server.isLeader = true;
    server.restart();
    server.pass(25);
    expect(server.begun.length).to.equal(2);
  });
});
