/** Use cases of policies: what is special about them. */
import { policyHash } from '../../acl/hash.js';
import { type Policy, policies } from '../../state/policies.js';
import { lintWrittenPolicy } from '../lint/lint.js';
import { contentOf, type ObjectParts, objectUseCases } from './objects.js';

/** Returns the use cases of policies. Lists show them without their rules. */
export const policyUseCases = ({ service, lint }: Pick<ObjectParts, 'service' | 'lint'>) =>
  objectUseCases(service, policies, {
    createdWithId: 'Cannot specify the ID when creating a new policy',
    async prepare(write, body) {
      await lintWrittenPolicy(lint, write, body.Rules ?? '');
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
