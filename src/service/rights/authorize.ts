/** The body of a batch authorization. */
import { bodyOf, given, items, text } from '../../languages/fields.js';

/** The questions of a batch. */
export const AUTHORIZE = items(
  bodyOf({
    Resource: given('The resource, such as service or key.', text()),
    Access: given('The access, such as read or write.', text()),
    Segment: given('The name of the resource. Omitted for resources without names.', text()),
  }),
);
