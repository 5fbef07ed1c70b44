import { loadConfig } from '../../src/config.js';
import { loginOptions } from '../../src/service/login/index.js';

/** The configuration of a node that sets nothing. */
export const DEFAULTS = loadConfig({});

/** How its auth methods are judged. */
export const LOGIN_DEFAULTS = loginOptions(DEFAULTS.login, DEFAULTS.limits.issuerRequests);
