/** Every command there is. Types stay for ever: logs hold them. */
import { configHandlers } from './config.js';
import type { Handlers } from './machine.js';
import { ACL_HANDLERS } from './objects.js';
import { RESTORE_HANDLERS } from './restore.js';

export const HANDLERS: Handlers = {
  ...ACL_HANDLERS,
  ...configHandlers,
  ...RESTORE_HANDLERS,
};
