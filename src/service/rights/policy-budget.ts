/**
 * Limits what the rights of a token are compiled from. The node that takes a write judges it. What
 * exists already, and policies that grow later, are compiled in slices whatever their size.
 */
import type { Steps } from '../../acl/steps.js';
import { type Refusal, refusal, refuseIf } from '../../base/errors.js';
import { keys } from '../../state/keys.js';
import type { LinkInput } from '../../state/links.js';
import { stored } from '../../state/lists.js';
import type { Policy } from '../../state/policies.js';
import type { Role } from '../../state/roles.js';
import type { View } from '../../state/types.js';
import { inSlices } from '../common/event-loop.js';

/**
 * Characters of policies that a token, a role or the defaults of a namespace may link: sixteen of
 * the longest policies. Compiling them for the first time takes about half a second.
 */
export const LINKED_CHARS_MAX = 2 ** 20;

/** What a holder of rights links. */
interface Linking {
  readonly policies?: readonly LinkInput[] | undefined;
  readonly roles?: readonly LinkInput[] | undefined;
}

/** A write that links policies and roles of `ns`. */
interface LinkingWrite {
  readonly what: string;
  readonly pointer: string;
  readonly ns: string;
  readonly links: Linking;
  /** What is stored. Links may stay as they are. */
  readonly before?: Linking;
}

/** Throws ApiError 400 if a write makes its holder link more than the limit and than before. */
export async function mustFitBudget(view: View, write: LinkingWrite): Promise<void> {
  refuseIf(await inSlices(budgetProblem(view, write), 'authorizer'));
}

/** Returns why a write links too much; undefined if it does not. */
export function* budgetProblem(view: View, write: LinkingWrite): Steps<Refusal | undefined> {
  const { what, pointer, ns, links, before = {} } = write;
  const chars = yield* charsOf(view, ns, links);
  if (chars <= LINKED_CHARS_MAX) return undefined;
  if (chars <= (yield* charsOf(view, ns, before))) return undefined;
  const most = `at most ${LINKED_CHARS_MAX} are compiled for one ${what}`;
  const why = `The policies that the ${what} links have ${chars} characters, ${most}`;
  return refusal('invalid', why, {
    pointer,
    hint: 'link fewer policies, or shorten them: one prefix rule can replace many rules',
  });
}

/** Returns the characters of the rules of all policies that are linked, directly or by roles. */
function* charsOf(view: View, ns: string, { policies = [], roles = [] }: Linking): Steps<number> {
  const ids = new Set<string>();
  for (const link of policies) {
    ids.add(idOf(link) ?? view.get(keys.policyName(ns, link.Name ?? '')) ?? '');
    yield;
  }
  for (const link of roles) {
    const id = idOf(link) ?? view.get(keys.roleName(ns, link.Name ?? '')) ?? '';
    const role = stored<Role>(view, keys.role(ns, id));
    for (const { ID } of role?.Policies ?? []) ids.add(ID);
    yield;
  }
  let chars = 0;
  for (const id of ids) {
    chars += stored<Policy>(view, keys.policy(ns, id))?.Rules.length ?? 0;
    yield;
  }
  return chars;
}

/** Returns the ID of a link that has one. Apply refuses links that lead to nothing. */
const idOf = ({ ID = '' }: LinkInput): string | undefined => ID.toLowerCase() || undefined;
