/** What is rarely done with a member, and never by mistake: its name is typed first. */
import { useState } from 'preact/hooks';
import type { Server } from '../../api/endpoints/operator.js';
import { ask } from '../api/client.js';
import { Dialog } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import { Form, useAttempt } from '../parts/form.js';
import { ProblemNotice } from '../parts/notice.js';
import { TEXT } from '../texts.js';

/** Something to do with a member. */
export interface Act {
  readonly server: Server;
  readonly does: 'handOver' | 'remove';
}

const SENT = {
  handOver: { method: 'POST', path: '/v1/operator/raft/transfer-leader' },
  remove: { method: 'DELETE', path: '/v1/operator/raft/peer' },
} as const;

/** Says what is going to happen, and does it once the name was typed. */
export function MemberAct({ server, does, onClose }: Act & { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { problem, isBusy, attempt } = useAttempt();
  const text = TEXT.overview[does];
  const { method, path } = SENT[does];
  const act = async (): Promise<void> => {
    // A failed attempt may hold up writes, so only the user repeats it.
    await ask(path, { method, query: { id: server.ID }, once: true });
    onClose();
  };
  return (
    <Dialog title={text.title(server.Name)} onClose={onClose}>
      <p>{text.about}</p>
      <Form
        onSubmit={() => {
          if (typed === server.Name) void attempt(act);
        }}
      >
        <TextField label={TEXT.overview.typeName(server.Name)} value={typed} onInput={setTyped} />
        <ProblemNotice problem={problem} />
        <div class="buttons">
          <button type="submit" class="main" disabled={isBusy || typed !== server.Name}>
            {text.confirm}
          </button>
          <button type="button" onClick={onClose}>
            {TEXT.remove.cancel}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
