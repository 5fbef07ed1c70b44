/** The declarations of the Config of auth methods by type. */
import type { MethodType } from '../../state/methods.js';
import { JWT_CONFIG } from './jwt-config.js';
import { KUBERNETES_CONFIG } from './kubernetes.js';

/** The Config of each type. Its keys match in any letter case. */
export const METHOD_CONFIGS = {
  jwt: JWT_CONFIG,
  kubernetes: KUBERNETES_CONFIG,
} as const satisfies Record<MethodType, unknown>;
