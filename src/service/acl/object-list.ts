/** The use cases of all ACL objects. */
import type { ObjectTable } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { methodUseCases } from './auth-methods.js';
import { ruleUseCases } from './binding-rules.js';
import { namespaceUseCases } from './namespaces.js';
import { type ObjectParts, type ObjectUseCases, objectUseCases } from './objects.js';
import { policyUseCases } from './policies.js';
import { roleUseCases } from './roles.js';
import { tokenUseCases } from './tokens.js';

/** Objects with use cases of their own. The others have the standard ones. */
const OWN: { readonly [T in ObjectTable]?: (parts: ObjectParts) => ObjectUseCases<unknown> } = {
  policy: policyUseCases,
  role: ({ service }) => roleUseCases(service),
  token: tokenUseCases,
  method: methodUseCases,
  rule: ruleUseCases,
  namespace: namespaceUseCases,
};

export const allUseCases = (parts: ObjectParts): readonly ObjectUseCases<unknown>[] =>
  Object.values(OBJECTS).map(
    (definition) => OWN[definition.table]?.(parts) ?? objectUseCases(parts.service, definition),
  );
