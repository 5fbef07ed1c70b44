/** What comes of a round: counts, problems and the exit code. */
import type { Finding, Problem, Report, TypeCounts } from '../../api/migration-report.js';
import { OBJECT_TYPES } from '../../migrate/source/types.js';
import { EXIT } from '../print/error.js';
import type { PlannedOurs } from './of-ours.js';
import type { Round } from './round.js';

/** Problems that do not stop a run: what others have changed stays as it is. */
const SKIPPED: ReadonlySet<string> = new Set(['changed']);

/** Whether a finding costs something that the source has. */
const isLoss = ({ Code, LeftOut, Lost, Mended }: Finding): boolean =>
  LeftOut || (Code === 'not_readable' ? true : !Lost.startsWith('nothing') && Mended === undefined);

/** Problems at which a run stops before it writes. */
export const stopping = ({ problems }: Round): readonly Problem[] =>
  problems.filter(({ Code }) => !SKIPPED.has(Code));

/** Returns the exit code of a report. `isPending`: a dry run has found something to write. */
export function exitOf({ Findings, Problems = [], Rights }: Report, isPending: boolean): number {
  if (Problems.some(({ Code }) => !SKIPPED.has(Code))) return EXIT.failed;
  if (Rights?.Equal === false) return EXIT.differs;
  if (Findings.some(isLoss) || Problems.length > 0) return EXIT.incomplete;
  return isPending ? EXIT.changes : EXIT.done;
}

/** Returns how many objects of each type there are, and what is done with them. */
export function countsOf(round: Round): Record<string, TypeCounts> {
  const { state, converted, objects, tokens, ours } = round;
  const sources = {
    policy: state.policies,
    role: state.roles,
    namespace: state.namespaces,
    'auth-method': state.authMethods,
    'binding-rule': state.bindingRules,
    token: state.tokens,
    config: state.entries,
  };
  const counts = Object.fromEntries(
    OBJECT_TYPES.map((type) => {
      const of = (action: string): number =>
        objects.changes.filter((one) => one.Type === type && one.Action === action).length;
      const own = type === 'token' ? tokens : undefined;
      const counts: TypeCounts = {
        Source: sources[type].length,
        Same: of('unchanged') + (own?.same ?? 0),
        Create: of('create') + (own?.created.length ?? 0),
        Update: of('update') + (own?.updated.length ?? 0),
        Delete: of('delete') + (own?.deleted.length ?? 0),
        LeftOut: new Set(
          converted.findings.flatMap(({ LeftOut, Ref }) =>
            LeftOut && Ref.startsWith(`${type}/`) ? [Ref] : [],
          ),
        ).size,
      };
      return [type, counts];
    }),
  );
  return { ...counts, ...(ours !== undefined && countsOfOurs(ours)) };
}

function countsOfOurs({ configuration, blocks, made, lifted }: PlannedOurs) {
  const Update = Number(configuration !== undefined);
  const none = { Create: 0, Update: 0, Delete: 0, LeftOut: 0 };
  const Create = made.length;
  return {
    configuration: { ...none, Source: 1, Same: 1 - Update, Update },
    block: { ...none, Source: blocks, Same: blocks - Create, Create, Delete: lifted.length },
  };
}
