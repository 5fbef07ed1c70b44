/** The objects of a namespace. A new object is a file of its own, its keys, and a line here. */
import { methodCommands, methods } from './methods.js';
import type { Commands, ObjectDefinition, ObjectTable } from './object.js';
import { standardCommands } from './object-commands.js';
import { policies } from './policies.js';
import { roles } from './roles.js';
import { ruleCommands, rules } from './rules.js';
import { tokenCommands } from './token-commands.js';
import { tokens } from './tokens.js';

/** An object with the commands on it. */
export type ListedObject = ObjectDefinition & { readonly commands: Commands };

/**
 * In the order in which a namespace is emptied: no object is left whose links lead to something
 * that was removed before it.
 */
export const NAMESPACED: Readonly<Record<Exclude<ObjectTable, 'namespace'>, ListedObject>> = {
  token: { ...tokens, commands: tokenCommands },
  rule: { ...rules, commands: ruleCommands },
  method: { ...methods, commands: methodCommands },
  role: { ...roles, commands: standardCommands(roles) },
  policy: { ...policies, commands: standardCommands(policies) },
};
