import { loadConfig } from '../../src/config/config.js';
import { loginOptions } from '../../src/service/login/index.js';

/** The configuration of a node without any settings. */
export const DEFAULTS = loadConfig({});

/** The default rules for auth methods. */
export const LOGIN_DEFAULTS = loginOptions(DEFAULTS.login, DEFAULTS.limits.issuerRequests);
