/** The page Plan: a set that is pasted or opened, planned and applied. */
import { useState } from 'preact/hooks';
import { applySet, type ChangeSet, planSet } from '../api/sets.js';
import { CodeField } from '../parts/code-field.js';
import { Form } from '../parts/form.js';
import { Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { keep, kept } from '../session.js';
import { TEXT } from '../texts.js';
import { type Act, ActDialog } from './review.js';

const DRAFT = 'plan';
const EXAMPLE = '{\n  "Objects": [\n    \n  ]\n}\n';

/** What is typed stays in the tab until it is applied. */
export function PlanPage() {
  const [text, setText] = useState(() => kept<string>(DRAFT) ?? EXAMPLE);
  const [fault, setFault] = useState<string>();
  const [act, setAct] = useState<Act>();
  const [done, setDone] = useState<string>();
  const change = (next: string): void => {
    setText(next);
    keep(DRAFT, next);
    setFault(undefined);
  };
  const plan = (): void => {
    setDone(undefined);
    try {
      setAct(planning(JSON.parse(text) as ChangeSet));
    } catch (error) {
      setFault(TEXT.form.noJson((error as Error).message));
    }
  };
  return (
    <Page title={TEXT.page.plan} about={TEXT.plan.about}>
      <Form onSubmit={plan}>
        <CodeField
          label={TEXT.plan.set}
          help={TEXT.plan.setHelp}
          error={fault}
          language="json"
          value={text}
          onInput={change}
        />
        <FileField onText={change} />
        <button type="submit" class="main">
          {TEXT.plan.plan}
        </button>
      </Form>
      <Status>{done}</Status>
      {act !== undefined && (
        <ActDialog
          act={act}
          onBack={() => setAct(undefined)}
          onDone={({ Changes, Index }) => {
            setAct(undefined);
            keep(DRAFT, undefined);
            setDone(TEXT.plan.applied(Changes.length, Index));
          }}
        />
      )}
    </Page>
  );
}

const planning = (set: ChangeSet): Act => ({
  plan: (signal) => planSet(set, signal),
  apply: (plan, reason, signal) => applySet(set, plan, reason, signal),
});

/** Reads the text of a file. Nothing is sent. */
const FileField = ({ onText }: { onText: (text: string) => void }) => (
  <div class="field">
    <label for="set-file">{TEXT.plan.file}</label>
    <input
      id="set-file"
      type="file"
      accept=".json,application/json"
      onChange={(event) => {
        const [file] = event.currentTarget.files ?? [];
        if (file !== undefined) void file.text().then(onText);
      }}
    />
  </div>
);
