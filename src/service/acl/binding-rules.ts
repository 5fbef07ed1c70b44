/** Use cases of binding rules: what is special about them. */
import { checkBindingRule } from '../../acl/binding.js';
import { ApiError, reject } from '../../base/errors.js';
import { keys } from '../../state/keys.js';
import { lastPart, stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { type BindingRule, METHOD_FAULTS, rules } from '../../state/rules.js';
import { keyOf } from '../../state/types.js';
import type { Service } from '../common/types.js';
import { settled, type Write } from '../common/writing.js';
import { lintWrittenRule, readerOf } from '../lint/lint.js';
import { contentOf, type ObjectParts, objectUseCases } from './objects.js';

/** Returns the use cases of binding rules. Lists can be narrowed to those of an auth method. */
export const ruleUseCases = (parts: Pick<ObjectParts, 'service' | 'methodTypes' | 'lint'>) =>
  objectUseCases(parts.service, rules, {
    async prepare(write, body, id) {
      const method = await methodOf(parts.service, write, id, body.AuthMethod ?? '');
      // The cast holds: `contentOf` adds all fields that are always present.
      const content = contentOf(rules, body) as unknown as BindingRule;
      const shape = parts.methodTypes.get(method.Type)!.shapeOf(method.Config);
      const problem = checkBindingRule(content, shape, write.ns);
      if (problem !== undefined) throw new ApiError(problem);
      const { service, methodTypes: types, lint } = parts;
      const rule = { ...content, ID: id ?? '' };
      const mayRead = readerOf(await service.authorize(write.caller));
      await lintWrittenRule(lint, write, { view: service.view, mayRead, types, method, rule });
      return { content };
    },
    narrow({ authmethod }) {
      const method = authmethod?.toLowerCase();
      if (method === undefined) return undefined;
      return (view, ns) => {
        const ids = [...view.keys(keyOf('rule-by-method', ns, method, ''))].map(lastPart);
        return ids.map((id) => keys.rule(ns, id));
      };
    },
  });

/**
 * Returns the auth method that a rule is checked against. What apply decides is refused here in the
 * same words.
 */
async function methodOf(
  service: Service,
  write: Write,
  id: string | undefined,
  name: string,
): Promise<AuthMethod> {
  const { ns } = write;
  const pointer = '/AuthMethod';
  if (id !== undefined) {
    const before = await settled(service, write, (view) =>
      stored<BindingRule>(view, keys.rule(ns, id)),
    );
    if (before === undefined) reject('not_found', `cannot find binding rule ${id}`);
    if (name !== '' && name !== before.AuthMethod) {
      reject('invalid', METHOD_FAULTS.immutable, { pointer });
    }
    return methodNamed(service, write, before.AuthMethod);
  }
  if (name === '') reject('invalid', `Invalid Binding Rule: ${METHOD_FAULTS.none}`, { pointer });
  return methodNamed(service, write, name);
}

async function methodNamed(service: Service, write: Write, name: string): Promise<AuthMethod> {
  const method = await settled(service, write, (view) =>
    stored<AuthMethod>(view, keys.method(write.ns, name)),
  );
  const why = METHOD_FAULTS.unknown(name);
  return method ?? reject('unknown_reference', why, { pointer: '/AuthMethod' });
}
