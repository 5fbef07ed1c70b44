/** The order of a write: first the caller's right, then the body. */
import { ApiError } from '../../base/errors.js';
import type { ApiRequest } from '../routes/types.js';

/**
 * Waits for a permission before the body is read; throws what it throws. A caller who is refused
 * does not learn what the body would have done. Of a tiny body it does learn whether that is not
 * JSON, which clients that send none rely on, and which right it needs: `mustMay` throws that 403.
 */
export async function admit(
  request: ApiRequest,
  failure: string,
  permission: Promise<unknown>,
  mustMay: (body: unknown) => Promise<void> = async () => {},
): Promise<void> {
  try {
    await permission;
  } catch (error) {
    if (request.hasTinyBody) {
      const body = await request.bodyValue(failure, { small: true });
      await mustMay(body).catch(rethrowDenial);
    }
    throw error;
  }
}

/** A caller without the right learns nothing of the body but what is missing. */
function rethrowDenial(error: unknown): void {
  if (!(error instanceof ApiError) || error.refusal.code === 'permission_denied') throw error;
}
