/** All ACL objects, and the commands on them. */
import { configureHistory, historyDenial } from './history/settings.js';
import { trimHistory } from './history/trim.js';
import { identityCommands } from './identity-commands.js';
import { configurationDenial, configureAcl } from './login-limits.js';
import { type ListedObject, NAMESPACED } from './namespaced.js';
import { namespaceCommands, namespaces } from './namespaces.js';
import type { Commands, ObjectTable } from './object.js';
import { oidcCommands } from './oidc.js';
import { ownerCommands } from './owner-release.js';
import { forgetRequests } from './request-forget.js';
import { bootstrap, initSystem, setFact } from './system.js';
import { gcCommands } from './token-gc.js';
import { importCommands } from './token-import.js';
import type { Handlers } from './types.js';

export const OBJECTS: Readonly<Record<ObjectTable, ListedObject>> = {
  ...NAMESPACED,
  namespace: { ...namespaces, commands: namespaceCommands },
};

/** The ACL commands, with their rights. A type is never removed, because logs contain it. */
export const ACL_COMMANDS: Commands = Object.assign(
  {
    bootstrap: { right: 'open', apply: bootstrap },
    'request.forget': { right: 'internal', apply: forgetRequests },
    'system.init': { right: 'internal', apply: initSystem },
    'fact.set': {
      right: (authorizer) => authorizer.denial('operator', 'write'),
      apply: setFact,
    },
    'acl.configure': {
      right: (authorizer) => configurationDenial(authorizer, 'write'),
      apply: configureAcl,
    },
    'history.configure': {
      right: (authorizer) => historyDenial(authorizer, 'write'),
      apply: configureHistory,
    },
    'history.trim': { right: 'internal', apply: trimHistory },
    ...identityCommands,
    ...gcCommands,
    ...oidcCommands,
    ...importCommands,
    ...ownerCommands,
  } satisfies Commands,
  ...Object.values(OBJECTS).map(({ commands }) => commands),
);

export const ACL_HANDLERS: Handlers = Object.fromEntries(
  Object.entries(ACL_COMMANDS).map(([type, { apply }]) => [type, apply]),
);
