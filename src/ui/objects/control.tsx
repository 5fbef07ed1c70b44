/** The field of a form by the kind of its control. */
import type { Finding } from '../api/types.js';
import { readItems } from '../lists/read-items.js';
import { CodeField } from '../parts/code-field.js';
import { AreaField, CheckField, type FieldProps, SelectField, TextField } from '../parts/field.js';
import { LinksField } from '../parts/links-field.js';
import { useLoad } from '../parts/load.js';
import type { Known } from '../schema/editor-help.js';
import { JsonField } from '../schema/json-field.js';
import { TEXT } from '../texts.js';
import type { Control as ControlOf } from './fields.js';

/** Names that are offered for a field. */
const OFFERED = 20;

/** A field. What is known about it helps who types JSON. */
export function Control({
  control,
  findings,
  known,
  ...field
}: FieldProps & {
  control: ControlOf;
  findings: readonly Finding[];
  known: Known;
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
      return <NameField {...field} list={control.list} />;
    case 'rules':
      return <CodeField {...field} language="rules" findings={findings} />;
    case 'json':
      return <JsonField {...field} known={known} />;
    default:
      return <TextField {...field} />;
  }
}

/** A text field for a name. Its help says which names a list has. */
export function NameField({ list, ...field }: FieldProps & { list: string }) {
  const { value } = useLoad(
    async (signal) => {
      const how = { signal, once: true, size: OFFERED };
      const { items } = await readItems<{ readonly Name: string }>(list, how);
      return items.map(({ Name }) => Name).join(', ');
    },
    [list],
  );
  return <TextField {...field} help={value ? TEXT.help.oneOf(value) : undefined} />;
}
