/** Every command there is. Types stay for ever: logs hold them. */
import { ACL_HANDLERS } from './acl-handlers.js';
import { configHandlers } from './config.js';
import type { Handlers } from './machine.js';
import { forgetRequests } from './requests.js';
import { RESTORE_HANDLERS } from './restore.js';

export const HANDLERS: Handlers = {
  ...ACL_HANDLERS,
  ...configHandlers,
  ...RESTORE_HANDLERS,
  'request.forget': forgetRequests,
};
