/** The order of a write: who asks, then what they say. */
import type { ApiRequest } from './types.js';

/**
 * Waits for a permission before the body is read; throws what it throws. A caller who is refused
 * learns nothing of what the body would have done, at most that a tiny one is not JSON: clients
 * that send none rely on hearing so.
 */
export async function admit(
  request: ApiRequest,
  failure: string,
  permission: Promise<unknown>,
): Promise<void> {
  try {
    await permission;
  } catch (error) {
    if (request.hasTinyBody) await request.bodyValue(failure, { small: true });
    throw error;
  }
}
