/** The order of a write: first the caller's right, then the body. */
import type { ApiRequest } from './types.js';

/**
 * Waits for a permission before the body is read; throws what it throws. A caller who is refused
 * does not learn what the body would have done, but does learn if a tiny one is not JSON: clients
 * that send none rely on that.
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
