/** Use cases of policies: what is special about them. */
import { policyHash } from '../acl/hash.js';
import { parseRules } from '../acl/rules.js';
import { ApiError } from '../errors.js';
import { type Policy, policies } from '../state/policies.js';
import { contentOf, objectUseCases } from './objects.js';
import type { Service } from './types.js';

/** Returns the use cases of policies. Lists show them without their rules. */
export const policyUseCases = (service: Service) =>
  objectUseCases(service, policies, {
    createdWithId: 'Cannot specify the ID when creating a new policy',
    prepare({ ns }, body) {
      const rules = parseRules(body.Rules ?? '', ns);
      if (!rules.ok) throw new ApiError(rules.refusal);
      const content = contentOf(policies, body);
      // The cast holds: `contentOf` adds all fields that are always present.
      return { content, more: { hash: policyHash(content as unknown as Policy) } };
    },
    // Lists alone show empty Datacenters. No value can hold these bytes unescaped.
    shownText: (text) => text.replace(',"Datacenters":[]', ''),
    listItem(item) {
      const { ID, Name, Description, Datacenters, ...rest } = item as Policy;
      return { ID, Name, Description, Datacenters: Datacenters ?? null, ...rest };
    },
  });
