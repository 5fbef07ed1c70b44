/** A field for JSON, with help from the schema of what it describes. */
import { useState } from 'preact/hooks';
import { CodeField } from '../parts/code-field.js';
import type { Caret, FieldProps } from '../parts/field.js';
import { Findings } from '../parts/findings.js';
import { TEXT } from '../texts.js';
import type { Checked, Known } from './editor-help.js';

const NOTHING: Checked = { findings: [], sentence: undefined };

/** An editor; below it what the field at the caret is, and what is wrong. */
export function JsonField({ known, caret, ...field }: FieldProps & { known: Known }) {
  const [{ findings, sentence }, setChecked] = useState(NOTHING);
  const [chosen, setChosen] = useState<Caret>();
  return (
    <>
      <CodeField
        {...field}
        language="json"
        findings={findings}
        caret={chosen ?? caret}
        known={known}
        onChecked={setChecked}
      />
      {known.body !== undefined && (
        <p class="help about-field" aria-live="polite">
          {sentence ?? TEXT.schema.keys}
        </p>
      )}
      <Findings
        findings={findings}
        onChoose={({ Line: line = 1, Column: column = 1 }) => setChosen({ line, column })}
      />
    </>
  );
}
