/** The field of a form by the kind of its control. */
import type { Finding } from '../api/types.js';
import type { Layout } from '../forms/layout.js';
import { LaidOutField } from '../forms/view.js';
import { CodeField } from '../parts/code-field.js';
import { AreaField, CheckField, type FieldProps, SelectField, TextField } from '../parts/field.js';
import { ItemsField } from '../parts/items-field.js';
import { LinksField } from '../parts/links-field.js';
import { ListPicker } from '../parts/list-picker.js';
import { offersFrom, Picker } from '../parts/picker.js';
import type { Known } from '../schema/editor-help.js';
import { JsonField } from '../schema/json-field.js';
import type { Control as ControlOf } from './fields.js';

/** A field. What is known about it helps who types JSON. */
export function Control({
  control,
  findings,
  known,
  layout,
  ...field
}: FieldProps & {
  control: ControlOf;
  findings: readonly Finding[];
  known: Known;
  /** The form over a JSON text. */
  layout: Layout | undefined;
}) {
  switch (control.type) {
    case 'area':
    case 'lines':
      return <AreaField {...field} />;
    case 'check':
      return <CheckField {...field} />;
    case 'select':
      return <SelectField {...field} options={control.options} />;
    case 'links':
      return <LinksField {...field} list={control.list} namespace={control.namespace} />;
    case 'name':
      return <ListPicker {...field} list={control.list} />;
    case 'offered':
      return <Picker {...field} source="offered" offersOf={offersFrom(control.offers)} />;
    case 'items':
      return <ItemsField {...field} item={control.item} />;
    case 'rules':
      return <CodeField {...field} language="rules" findings={findings} />;
    case 'json':
      return layout === undefined ? (
        <JsonField {...field} known={known} />
      ) : (
        <LaidOutField {...field} known={known} layout={layout} />
      );
    default:
      return <TextField {...field} />;
  }
}
