/** The first management token. */
import { randomUUID } from 'node:crypto';
import { isUuid } from '../../acl/names.js';
import type { BootstrapBody } from '../../api/endpoints/tokens.js';
import { reject } from '../../base/errors.js';
import { timeOf } from '../../languages/times.js';
import type { ClusterNode } from '../../node/types.js';
import { keys } from '../../state/keys.js';
import { type Bootstrap, INIT_FACT } from '../../state/system.js';
import type { Requester, Service } from '../common/types.js';
import { shown } from './tokens.js';

/** Allows another bootstrap. An operator writes its index into a file of the data folder. */
export interface BootstrapReset {
  read(): Promise<number | undefined>;
  remove(): Promise<void>;
}

/** Creates the first management token. Returns it with its secret also as `ID`, for old clients. */
export async function bootstrap(
  service: Service,
  requester: Requester,
  body: BootstrapBody,
  { nowMs, reset }: { readonly nowMs: number; readonly reset?: BootstrapReset | undefined },
): Promise<string> {
  const own = body.BootstrapSecret ?? '';
  if (own !== '' && !isUuid(own)) {
    const why = 'BootstrapSecret is not a UUID: uuid string is wrong length or form';
    reject('invalid', why, { pointer: '/BootstrapSecret' });
  }
  await service.catchUp(requester.timeoutMs);
  const resetIndex = await reset?.read();
  const secret = own === '' ? randomUUID() : own;
  const command: Bootstrap = {
    type: 'bootstrap',
    v: 1,
    token: { accessor: randomUUID(), secret, createTime: timeOf(nowMs) },
    ...(resetIndex === undefined ? {} : { resetIndex }),
  };
  const token = shown(service, await service.write(requester, command));
  if (resetIndex !== undefined) await reset?.remove();
  return JSON.stringify({ ID: secret, ...(JSON.parse(token) as object) });
}

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
