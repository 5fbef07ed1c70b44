/** The objects in namespaces. A new object needs a file of its own, its keys, and a line here. */
import { methodCommands, methods } from './methods.js';
import type { Commands, ObjectDefinition, ObjectTable } from './object.js';
import { standardCommands } from './object-commands.js';
import { policies } from './policies.js';
import { roles } from './roles.js';
import { ruleCommands, rules } from './rules.js';
import { tokenCommands } from './token-commands.js';
import { tokens } from './tokens.js';

/** The definition of an object, with its commands. */
export type ListedObject = ObjectDefinition & { readonly commands: Commands };

/**
 * The objects by table, in the order in which a deleted namespace is emptied: an object is removed
 * before the objects that it links to.
 */
export const NAMESPACED: Readonly<Record<Exclude<ObjectTable, 'namespace'>, ListedObject>> = {
  token: { ...tokens, commands: tokenCommands },
  rule: { ...rules, commands: ruleCommands },
  method: { ...methods, commands: methodCommands },
  role: { ...roles, commands: standardCommands(roles) },
  policy: { ...policies, commands: standardCommands(policies) },
};
