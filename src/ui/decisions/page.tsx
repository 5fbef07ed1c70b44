/** The page Decisions: what a program is answered that asks whether somebody may do something. */
import { useState } from 'preact/hooks';
import type { Decided, Line } from '../../api/decided.js';
import type { Result } from '../api/types.js';
import { SUBJECT_TYPES } from '../decision-texts.js';
import { TextField } from '../parts/field.js';
import { Form, useAttempt } from '../parts/form.js';
import { ListPicker } from '../parts/list-picker.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { offersFrom, Picker } from '../parts/picker.js';
import { TEXT } from '../texts.js';
import {
  decide,
  explain,
  findWhat,
  findWho,
  isCredential,
  type Listed,
  type ShownRequest,
  type Someone,
  shownRequest,
  type Typed,
} from './asked.js';
import { DecidedView, ForPrograms, WhatTable, WhoTable } from './shown.js';

const { decisions } = TEXT;

/** What was answered last. */
interface Shown {
  readonly decided?: { readonly answer: Decided; readonly why: Result | undefined };
  /** The request of the decision, without secrets. */
  readonly request?: ShownRequest;
  readonly who?: Listed<Someone>;
  readonly what?: Listed<Line>;
}

/** Nothing of it is kept: credentials are typed here. */
export function DecisionsPage() {
  const [typed, setTyped] = useState<Typed>(EMPTY);
  const [{ decided, request, who, what }, setShown] = useState<Shown>({});
  const { problem, isBusy, attempt } = useAttempt();
  const run = (find: () => Promise<Shown>): void => {
    setShown({});
    void attempt(async () => setShown(await find()));
  };
  const onDecide = async (): Promise<Shown> => {
    const answer = await decide(typed);
    return { decided: { answer, why: await explain(typed, answer) }, request: shownRequest(typed) };
  };
  return (
    <Page title={TEXT.page.decisions} about={decisions.about}>
      <Form class="panel" onSubmit={() => run(onDecide)}>
        <SubjectFields typed={typed} onChange={setTyped} />
        <ResourceFields typed={typed} onChange={setTyped} />
        <div class="buttons">
          <button type="submit" class="main" disabled={isBusy}>
            {decisions.decide}
          </button>
          <button
            type="button"
            disabled={isBusy}
            onClick={() => run(async () => ({ who: await findWho(typed) }))}
          >
            {decisions.who}
          </button>
          <button
            type="button"
            disabled={isBusy}
            onClick={() => run(async () => ({ what: await findWhat(typed) }))}
          >
            {decisions.what}
          </button>
        </div>
      </Form>
      <ProblemNotice problem={problem} />
      <Status>
        {decided !== undefined && <DecidedView {...decided} />}
        {who?.rows.length === 0 && decisions.nobody}
        {what?.rows.length === 0 && decisions.nothing}
        {(who?.isCut || what?.isCut) && decisions.truncated}
      </Status>
      {decided !== undefined && request !== undefined && (
        <ForPrograms answer={decided.answer} request={request} />
      )}
      {who !== undefined && who.rows.length > 0 && <WhoTable rows={who.rows} />}
      {what !== undefined && what.rows.length > 0 && <WhatTable rows={what.rows} />}
    </Page>
  );
}

const EMPTY: Typed = {
  subjectType: 'token',
  subjectId: 'self',
  method: '',
  action: 'read',
  resourceType: '',
  resourceId: '',
  namespace: '',
};

interface FieldsProps {
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
}

function SubjectFields({ typed, onChange }: FieldsProps) {
  const { subjectType, subjectId, method } = typed;
  const type = subjectType.trim();
  const chooseType = (next: string): void => {
    // A secret would be shown in the field of another type.
    const isLeft = isCredential(type) && !isCredential(next.trim());
    onChange({ ...typed, subjectType: next, subjectId: isLeft ? '' : subjectId });
  };
  return (
    <div class="row fields">
      <Picker
        label={decisions.subjectType}
        help={decisions.subjectTypeHelp}
        source="types"
        offersOf={offersFrom(SUBJECT_TYPES)}
        value={subjectType}
        onInput={chooseType}
      />
      <TextField
        label={decisions.subjectId}
        help={decisions.subjectIdHelp[type]}
        isPassword={isCredential(type)}
        value={subjectId}
        onInput={(next) => onChange({ ...typed, subjectId: next })}
      />
      <ListPicker
        label={decisions.method}
        help={decisions.methodHelp}
        list="/v1/acl/auth-methods"
        value={method}
        onInput={(next) => onChange({ ...typed, method: next })}
      />
    </div>
  );
}

function ResourceFields({ typed, onChange }: FieldsProps) {
  const { action, resourceType, resourceId, namespace } = typed;
  return (
    <div class="row fields">
      <TextField
        label={decisions.action}
        help={decisions.actionHelp}
        value={action}
        onInput={(next) => onChange({ ...typed, action: next })}
      />
      <TextField
        label={decisions.resourceType}
        help={decisions.resourceTypeHelp}
        value={resourceType}
        onInput={(next) => onChange({ ...typed, resourceType: next })}
      />
      <TextField
        label={decisions.resourceId}
        value={resourceId}
        onInput={(next) => onChange({ ...typed, resourceId: next })}
      />
      <TextField
        label={decisions.namespace}
        help={decisions.namespaceHelp}
        value={namespace}
        onInput={(next) => onChange({ ...typed, namespace: next })}
      />
    </div>
  );
}
