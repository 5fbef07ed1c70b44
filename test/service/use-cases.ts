/** The use cases of ACL objects on a service of a test. */
import { methodUseCases } from '../../src/service/auth-methods.js';
import { ruleUseCases } from '../../src/service/binding-rules.js';
import { namespaceUseCases } from '../../src/service/namespaces.js';
import type { ObjectParts } from '../../src/service/objects.js';
import { policyUseCases } from '../../src/service/policies.js';
import { roleUseCases } from '../../src/service/roles.js';
import { tokenUseCases } from '../../src/service/tokens.js';

/** All of them, with the parts that the test needs. Reads and lists need none. */
export function useCasesOf(some: Partial<ObjectParts> = {}) {
  const parts = { lint: 'warn', ...some } as ObjectParts;
  return {
    policy: policyUseCases(parts),
    role: roleUseCases(parts.service),
    token: tokenUseCases(parts),
    method: methodUseCases(parts),
    rule: ruleUseCases(parts),
    namespace: namespaceUseCases(parts),
  };
}
