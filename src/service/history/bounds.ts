/** Use cases of the history configuration: how much of the history is kept. */
import type { Authorizer } from '../../acl/types.js';
import { refuseIf, reject } from '../../base/errors.js';
import { formatDuration } from '../../languages/duration.js';
import { bodyOf } from '../../languages/fields.js';
import {
  BYTES_MAX,
  BYTES_MIN,
  HISTORY_DEFAULTS,
  HISTORY_FACT,
  type HistoryBounds,
  type HistoryConfigure,
  historyBounds,
  historyDenial,
  historyFields,
  VERSIONS_MAX,
} from '../../state/history/settings.js';
import { decodeBody } from '../common/decode.js';
import type { ReadUseCase, Requester, Service } from '../common/types.js';

export const BOUNDS_BODY = bodyOf(historyFields);
const HOUR_NS = 3600e9;
/** Most of MaxAge: ten years. */
const AGE_MAX = 87_600 * HOUR_NS;

/** Permits a write of the configuration. Throws ApiError 403. */
export const mayConfigureHistory = (service: Service, requester: Requester): Promise<Authorizer> =>
  service.permit(requester, (authorizer) => historyDenial(authorizer, 'write'));

/** Decodes a configuration. Absent members take their defaults. Throws ApiError `invalid`. */
export function decodeBounds(failure: string, body: unknown): HistoryBounds {
  const { MaxAge: age, ...sent } = decodeBody(failure, body, BOUNDS_BODY);
  const fail = (field: keyof HistoryBounds, why: string): never =>
    reject('invalid', `${failure}: ${field} ${why}`, { pointer: `/${field}` });
  const { VersionsPerObject = HISTORY_DEFAULTS.VersionsPerObject } = sent;
  const { Bytes = HISTORY_DEFAULTS.Bytes } = sent;
  const { LoginBytes = Math.min(HISTORY_DEFAULTS.LoginBytes, Bytes) } = sent;
  if (VersionsPerObject > VERSIONS_MAX)
    fail('VersionsPerObject', `${VersionsPerObject} cannot be more than ${VERSIONS_MAX}`);
  if (Bytes !== 0 && (Bytes < BYTES_MIN || Bytes > BYTES_MAX))
    fail('Bytes', `${Bytes} should be 0, or from ${BYTES_MIN} to ${BYTES_MAX}`);
  if (LoginBytes > Bytes) fail('LoginBytes', `${LoginBytes} cannot be more than Bytes, ${Bytes}`);
  if (age !== undefined && age !== 0 && (age < HOUR_NS || age > AGE_MAX))
    fail('MaxAge', `${formatDuration(age)} should be empty, or from 1h to 87600h`);
  const MaxAge =
    age === undefined ? HISTORY_DEFAULTS.MaxAge : age === 0 ? '' : shortest(formatDuration(age));
  return { VersionsPerObject, Bytes, LoginBytes, MaxAge };
}

/** Returns a duration without the units at its end that are 0. */
const shortest = (duration: string): string =>
  duration.replace(/(?<=m)0s$/, '').replace(/(?<=h)0m$/, '');

/** Replaces the configuration. Returns it as answered. For `ifMatch`, see `HistoryConfigure`. */
export function writeBounds(
  service: Service,
  requester: Requester,
  bounds: HistoryBounds,
  ifMatch: readonly number[] | undefined,
): Promise<string> {
  const command: HistoryConfigure = {
    type: 'history.configure',
    v: 1,
    bounds,
    ...(ifMatch !== undefined && { ifMatch }),
  };
  return service.write(requester, command);
}

/** Reads the configuration in force. */
export const readBounds: ReadUseCase<string> = ({ view, authorizer }) => {
  refuseIf(historyDenial(authorizer, 'read'));
  const bounds = historyBounds(view);
  return { value: JSON.stringify(bounds), index: bounds.ModifyIndex, keys: [HISTORY_FACT] };
};
