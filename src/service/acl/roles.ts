/** Use cases of roles: what is special about them. */

import { keys } from '../../state/keys.js';
import { lastPart, stored } from '../../state/lists.js';
import { type Role, roles } from '../../state/roles.js';
import { keyOf } from '../../state/types.js';
import { mustBeUuid } from '../common/reading.js';
import type { Service } from '../common/types.js';
import { normaliseGrants } from '../rights/grants.js';
import { mustFitBudget } from '../rights/policy-budget.js';
import { contentOf, objectUseCases } from './objects.js';

/** Returns the use cases of roles. Lists can be narrowed to those linked to a policy. */
export const roleUseCases = (service: Service) =>
  objectUseCases(service, roles, {
    async prepare({ ns }, body, id) {
      const { view } = service;
      const before = id === undefined ? undefined : stored<Role>(view, keys.role(ns, id));
      await mustFitBudget(view, {
        what: 'role',
        pointer: '/Policies',
        ns,
        links: { policies: body.Policies },
        before: { policies: before?.Policies },
      });
      return {
        content: { ...contentOf(roles, body), ...normaliseGrants(body, { is: 'role', ns }) },
      };
    },
    narrow({ policy }) {
      if (policy === undefined) return undefined;
      const id = mustBeUuid(policy, 'policy: index error');
      return (view, ns) => {
        const linked = [...view.keys(keyOf('role-by-policy', id, ns, ''))].map(lastPart);
        const nameOf = (role: string): string => stored<Role>(view, keys.role(ns, role))!.Name;
        return linked.map((role) => keys.roleName(ns, nameOf(role))).sort();
      };
    },
  });
