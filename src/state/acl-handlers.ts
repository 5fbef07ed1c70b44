/** Which command of the ACL part is decided by which handler. Types stay for ever: logs hold them. */
import { configureAcl } from './login-limits.js';
import type { Handlers } from './machine.js';
import { deleteMethod, reapMethod, setMethod } from './methods.js';
import { deleteNamespace, reapNamespace, setNamespace } from './namespaces.js';
import { deletePolicy, setPolicy } from './policies.js';
import { deleteRole, setRole } from './roles.js';
import { deleteRule, setRule } from './rules.js';
import { bootstrap, initSystem, setFact } from './system.js';
import {
  cloneToken,
  createToken,
  deleteToken,
  loginToken,
  logoutToken,
  reapTokens,
  updateToken,
} from './token-commands.js';

export const ACL_HANDLERS: Handlers = {
  'policy.set': setPolicy,
  'policy.delete': deletePolicy,
  'role.set': setRole,
  'role.delete': deleteRole,
  'token.create': createToken,
  'token.update': updateToken,
  'token.clone': cloneToken,
  'token.delete': deleteToken,
  'token.login': loginToken,
  'token.logout': logoutToken,
  'token.reap': reapTokens,
  'method.set': setMethod,
  'method.delete': deleteMethod,
  'method.reap': reapMethod,
  'rule.set': setRule,
  'rule.delete': deleteRule,
  'namespace.set': setNamespace,
  'namespace.delete': deleteNamespace,
  'namespace.reap': reapNamespace,
  'system.init': initSystem,
  bootstrap: bootstrap,
  'fact.set': setFact,
  'acl.configure': configureAcl,
};
