/** Types of answers that the field language does not need for bodies. */
import { type Fields, map, object, type Type } from '../languages/fields.js';

// The casts below are safe because answers are only described, never decoded.
type Any = Type<unknown, unknown>;

/** A value, or null. */
export const orNone = (type: Any): Type<unknown> =>
  ({ ...type, zero: () => null }) as Type<unknown>;
/** A map that is there even if it is empty. */
export const mapOf = (type: Any): Type<object> =>
  ({ ...map(type as Type<unknown>), zero: () => ({}) }) as unknown as Type<object>;
/** A list that is there even if it is empty. */
export const listOf = (type: Any): Type<readonly unknown[]> =>
  ({
    ...type,
    description: { is: 'list', of: type },
    zero: () => [],
  }) as unknown as Type<readonly unknown[]>;
/** An object. */
export const shape = (fields: Fields): Any => object(fields);
