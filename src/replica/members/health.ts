/** Asks the members on the leader's behalf whether something is wrong with them. */
import type { NodeId } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { WirePort } from '../ports.js';
import type { Rpc } from '../rpc.js';

export interface HealthParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly wire: Pick<WirePort, 'reachable'>;
  readonly limits: { readonly askMs: number };
}

/** Why members are not healthy, by member. */
export type Problems = ReadonlyMap<NodeId, string>;

/** The health of the other members. */
export class Health {
  readonly #parts: HealthParts;

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  /**
   * Asks every member to which this server is connected. `done` is called once, when all have
   * answered or timed out. One that cannot be asked has no entry: its last contact tells enough.
   */
  ask(done: (problems: Problems) => void): void {
    const { id: self, loop, rpc, wire, limits } = this.#parts;
    const reachable = wire.reachable?.() ?? [];
    const asked = loop
      .status()
      .configuration.members.map(({ id }) => id)
      .filter((id) => id !== self && reachable.includes(id));
    const problems = new Map<NodeId, string>();
    let open = asked.length;
    if (open === 0) done(problems);
    for (const id of asked) {
      rpc.call(id, { type: 'level' }, limits.askMs, (response) => {
        if (response.type === 'level' && response.problem !== undefined)
          problems.set(id, response.problem);
        open -= 1;
        if (open === 0) done(problems);
      });
    }
  }
}
