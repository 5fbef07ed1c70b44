/** A field for an object by its name, or for a token by its accessor ID. */
import type { Stored } from '../api/types.js';
import { readFirst } from '../lists/page.js';
import type { FieldProps } from './field.js';
import { type Offer, Picker, type PickerParts } from './picker.js';
import { SHORT } from './short-id.js';

/** Objects that are offered at a time. */
const OFFERED = 8;

/** Returns an object of a list as an offer. Tokens have no name. */
function offerOf({ Name, AccessorID, Description = '' }: Stored): Offer {
  const about = String(Description);
  if (AccessorID === undefined) return { value: String(Name), label: String(Name), about };
  const value = String(AccessorID);
  return { value, label: about || value, about: about && value.slice(0, SHORT) };
}

/** Returns what makes a picker offer the objects of a list. Undefined `ns`: that of the page. */
export const fromList = (list: string, ns?: string): Pick<PickerParts, 'offersOf' | 'source'> => ({
  source: `${list} ${ns}`,
  async offersOf(typed, signal) {
    const how = { typed, size: OFFERED, signal, ns, once: true };
    return (await readFirst<Stored>(list, how)).items.map(offerOf);
  },
});

/** The field. */
export const ListPicker = ({ list, ...field }: FieldProps & { list: string }) => (
  <Picker {...field} {...fromList(list)} />
);
