/**
 * Members whose certificates have one subject (`raft.tls`). Members tell each other's certificates
 * apart by the subject, so with one for all of them every such certificate fits every member. Then
 * only the keys of the data folders (`proof.ts`) tell who is who.
 */
import type { NodeId } from '../raft/types.js';

/** Finds subjects that two members share. */
export class SharedSubjects {
  readonly #subjects = new Map<NodeId, string>();
  readonly #told = new Set<string>();
  readonly #tell: (text: string, nodeId: NodeId) => void;

  /** `tell` gets a sentence for each shared subject, once. */
  constructor(tell: (text: string, nodeId: NodeId) => void) {
    this.#tell = tell;
  }

  /** Notes the subjects that a node and this one, `self`, show each other. */
  note(nodeId: NodeId, subject: string, self: { nodeId: NodeId; subject: string | undefined }) {
    this.#subjects.set(nodeId, subject);
    if (this.#told.has(subject)) return;
    const others = self.subject === undefined ? [] : [[self.nodeId, self.subject] as const];
    const other = [...this.#subjects, ...others].find(
      ([id, its]) => id !== nodeId && its === subject,
    );
    if (other === undefined) return;
    this.#told.add(subject);
    this.#tell(
      `node ${nodeId} and ${other[0]} present certificates with the same subject, "${subject}": ` +
        'give each member its own subject, so that a certificate identifies one member only ' +
        'and can be revoked alone',
      nodeId,
    );
  }

  /** Forgets a node that is no longer a member. */
  forget(nodeId: NodeId): void {
    this.#subjects.delete(nodeId);
  }
}
