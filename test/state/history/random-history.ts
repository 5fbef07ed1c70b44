/** A history by chance: what was stored after each entry, beside the machine that keeps it. */
import { Random } from '../../../cluster/checker/random.js';
import { HANDLERS } from '../../../src/state/handlers.js';
import { hiddenText } from '../../../src/state/history/contents.js';
import { placeOf } from '../../../src/state/history/records.js';
import { Machine } from '../../../src/state/machine.js';
import { encodeProposal } from '../../../src/state/proposal.js';
import type { Command } from '../../../src/state/types.js';
import { cascade, randomCommand } from '../../support/random-commands.js';
import { MapStore } from '../store.js';

const START_MS = Date.parse('2030-01-01T00:00:00.000Z');

/** Applies commands one by one, each a second after the one before. */
export class Recorded {
  readonly store = new MapStore();
  readonly machine = new Machine(this.store, HANDLERS);
  readonly commands: Command[] = [];
  /** The objects after each entry, without secrets, by index and key. */
  readonly objects: Map<string, string>[] = [new Map()];

  constructor() {
    this.apply({
      type: 'system.init',
      v: 1,
      createTime: new Date(START_MS).toISOString(),
    } as Command);
    this.apply({ type: 'system.level', v: 1, level: 3 } as Command);
  }

  get index(): number {
    return this.machine.appliedIndex();
  }

  apply(command: Command): ReturnType<Machine['apply']>[number] {
    const index = this.index + 1;
    const time = new Date(START_MS + index * 1000).toISOString();
    const author = { AccessorID: `author-${index % 3}`, Description: 'ci' };
    const full = { author, time, ...command };
    this.commands.push(full);
    const data = encodeProposal({ id: `r${index}`, since: 0, command: full });
    const [result] = this.machine.apply([{ kind: 'command', index, term: 1, data }]);
    const objects = new Map<string, string>();
    for (const [key, text] of this.store.map) {
      const place = placeOf(key);
      if (place !== undefined) objects.set(key, hiddenText(place, text));
    }
    this.objects.push(objects);
    return result;
  }

  /** Applies a command that replaces the state. */
  restore(command: object): void {
    const index = this.index + 1;
    const proposal = { id: `r${index}`, since: 0, command: { v: 1, ...command } as Command };
    const data = encodeProposal(proposal);
    let isOk = false;
    this.machine.apply([{ kind: 'command', index, term: 1, data }], (result) => {
      isOk = result?.ok === true;
    });
    while (this.store.isRewriting) this.store.turn();
    if (!isOk) throw new Error('the restore was refused');
  }

  /** Applies some commands by chance. `hasBounds`: the bounds of the history change too. */
  run(seed: number, count: number, hasBounds = false): void {
    const random = new Random(seed);
    for (let n = 1; n <= count; n++) {
      const draw = { random, n, view: this.store, applied: this.index };
      if (random.chance(0.1)) for (const make of cascade(draw)) this.apply(make());
      const command = randomCommand(draw);
      if (hasBounds || !command.type.startsWith('history.')) this.apply(command);
    }
  }

  /** Applies a command that must be accepted. */
  must(command: object): string {
    const result = this.apply({ v: 1, ...command } as Command);
    if (result?.ok !== true) throw new Error(`refused: ${JSON.stringify(result)}`);
    return result.value ?? 'true';
  }
}
