/** All commands. A type is never removed, because logs contain it. */
import { configHandlers } from './config.js';
import { withPreconditions } from './match.js';
import { ACL_HANDLERS } from './objects.js';
import { RESTORE_HANDLERS } from './restore.js';
import { SET_HANDLERS } from './sets.js';
import type { Handlers } from './types.js';
import { UNDO_HANDLERS } from './undo.js';

/** The handlers of all commands, by type. */
export const HANDLERS: Handlers = withPreconditions({
  ...ACL_HANDLERS,
  ...configHandlers,
  ...RESTORE_HANDLERS,
  ...SET_HANDLERS,
  ...UNDO_HANDLERS,
});
