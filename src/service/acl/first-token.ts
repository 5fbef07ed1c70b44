/** Finds out whether a cluster still waits for its first token. */
import type { ClusterNode } from '../../node/types.js';
import { keys } from '../../state/keys.js';
import { INIT_FACT } from '../../state/system.js';
import type { Service } from '../common/types.js';

/**
 * Calls `tell` if the cluster has no token yet, once this node has caught up with its leader and
 * the cluster is initialized, which may create a token. Does nothing without a leader in time.
 */
export async function onNoToken(
  node: Pick<ClusterNode, 'view' | 'watch'>,
  service: Pick<Service, 'catchUp'>,
  timeoutMs: number,
  tell: () => void,
): Promise<void> {
  const upToDate = await service.catchUp(timeoutMs).then(
    () => true,
    () => false,
  );
  if (!upToDate) return;
  const check = (): void => {
    if (node.view.get(keys.fact('bootstrap')) === undefined) tell();
  };
  if (node.view.get(INIT_FACT) === undefined) node.watch([INIT_FACT], check);
  else check();
}
