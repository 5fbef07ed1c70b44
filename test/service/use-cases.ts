/** The use cases of ACL objects on a service of a test. */
import { methodUseCases } from '../../src/service/acl/auth-methods.js';
import { ruleUseCases } from '../../src/service/acl/binding-rules.js';
import { namespaceUseCases } from '../../src/service/acl/namespaces.js';
import type { ObjectParts } from '../../src/service/acl/objects.js';
import { policyUseCases } from '../../src/service/acl/policies.js';
import { roleUseCases } from '../../src/service/acl/roles.js';
import { tokenUseCases } from '../../src/service/acl/tokens.js';

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
