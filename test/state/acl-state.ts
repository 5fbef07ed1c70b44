/** A machine with only the ACL commands, and short ways to create these. */

import { keys } from '../../src/state/keys.js';
import { stored } from '../../src/state/lists.js';
import { Machine } from '../../src/state/machine.js';
import type { AuthMethod } from '../../src/state/methods.js';
import { ACL_HANDLERS } from '../../src/state/objects.js';
import { encodeProposal } from '../../src/state/proposal.js';
import type { Command, Result } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';

export const AT = '2030-01-01T00:00:00Z';

export class State {
  readonly store = new MemoryState();
  readonly machine = new Machine(this.store, ACL_HANDLERS);

  constructor(...namespaces: string[]) {
    this.must({ type: 'system.init', createTime: AT });
    for (const Name of namespaces) {
      const namespace = { Name, PolicyDefaults: [], RoleDefaults: [] };
      this.must({ type: 'namespace.set', policyId: `management-of-${Name}`, namespace });
    }
  }
  apply(command: object): Result {
    const index = this.machine.appliedIndex() + 1;
    const proposal = { id: `r${index}`, since: 0, command: { v: 1, ...command } as Command };
    const [result] = this.machine.apply([
      { kind: 'command', index, term: 1, data: encodeProposal(proposal) },
    ]);
    this.store.sync();
    return result!;
  }
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  must(command: object): any {
    const result = this.apply(command);
    if (!result.ok) throw new Error(result.refusal.message);
    return result.value === undefined ? undefined : JSON.parse(result.value);
  }
  refusal(command: object): string {
    const result = this.apply(command);
    return result.ok ? 'was not refused' : `${result.refusal.code}: ${result.refusal.message}`;
  }
  policy(id: string, Name: string, ns = 'default', create = true) {
    const policy = { Name, Description: '', Rules: '' };
    return { type: 'policy.set', ns, id, create, policy, hash: 'h' };
  }
  role(id: string, Name: string, Policies: object[] = [], create = true) {
    const role = { Name, Description: '', Policies };
    return { type: 'role.set', ns: 'default', id, create, role };
  }
  token(n: number, more: object = {}) {
    const accessor = `0000000a-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;
    const secret = `0000000b-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;
    const token = { Description: '', Policies: [], Roles: [], Local: false, ...more };
    return { type: 'token.create', ns: 'default', accessor, secret, createTime: AT, token };
  }
  method(Name: string, ns = 'default') {
    return { type: 'method.set', ns, method: { Name, Type: 'jwt', Config: {} } };
  }
  login(n: number, name: string) {
    const modifyIndex = stored<AuthMethod>(this.store, keys.method('default', name))!.ModifyIndex;
    const { accessor, secret } = this.token(n);
    const token = this.token(n, { ServiceIdentities: [{ ServiceName: 'web' }] }).token;
    const method = { ns: 'default', name, modifyIndex };
    return { type: 'token.login', ns: 'default', accessor, secret, createTime: AT, method, token };
  }
}
