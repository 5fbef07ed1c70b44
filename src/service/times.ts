/** Points in time as requests hold them. */
import { normalTime } from '../state/times.js';
import { type Decoder, refuse } from './decode.js';

/** A field that holds a time; gives its normal form. */
export const time: Decoder<string> = (value, place) => {
  const normal = typeof value === 'string' ? normalTime(value) : undefined;
  return normal ?? refuse(place, 'expected a time such as "2030-01-31T12:00:00Z"');
};
