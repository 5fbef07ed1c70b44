/** The use case of lint over all that is stored, and between objects. */
import { SEVERITIES, type Severity } from '../../acl/lint/findings.js';
import type { StoredFinding } from '../../api/endpoints/lint.js';
import { reject } from '../../base/errors.js';
import { didYouMean } from '../../languages/suggest.js';
import type { PinnedView } from '../../state/types.js';
import { listedNamespaces, stateIndex } from '../common/reading.js';
import type { ReadBy, ReadOutcome } from '../common/types.js';
import { type LongWorkParts, ownerOf } from '../reads/long-work.js';
import { readerOf } from './lint.js';
import { type LintParts, lintNamespaces } from './lint-objects.js';

/** Findings of one answer. */
const FINDINGS_MAX = 1_000;

/** Returns the severity of a parameter; that of warnings if it is absent. Throws ApiError 400. */
export function severityOf(text = 'warning'): Severity {
  const known = SEVERITIES.find((severity) => severity === text);
  if (known !== undefined) return known;
  const shown = JSON.stringify(text.slice(0, 60));
  const hint = didYouMean(text, SEVERITIES);
  const why = `${shown} is not one of ${SEVERITIES.join(', ')}${hint}`;
  return reject('invalid', `Invalid query parameter "severity": ${why}`);
}

/**
 * Lints the ACL objects of a namespace, or of all (`*`) whose ACL objects the caller may read, down
 * to a severity. Throws ApiError, 429 beyond `LongWork`.
 */
export async function clusterLint(
  parts: LintParts & LongWorkParts,
  { caller, options }: ReadBy,
  { ns, severity }: { readonly ns: string; readonly severity: Severity },
): Promise<ReadOutcome<string>> {
  const { service } = parts;
  const outcome = await service.read(caller, options, ({ view, authorizer }) => {
    const { shown, filtered } = listedNamespaces(view, authorizer, ns);
    const places = shown.map((namespace) => ({
      namespace,
      showsCertificates: authorizer.allowed('mesh', 'read', undefined, namespace),
      showsItself: authorizer.allowed('namespace', 'read', namespace),
    }));
    const value = { places, mayRead: readerOf(authorizer) };
    return { value, filtered, index: stateIndex(view), keys: [] };
  });
  const found = new Findings(severity);
  let view: PinnedView | undefined;
  try {
    await parts.longWork.run(ownerOf(service, caller), 'lint', () => {
      // Newer than the index of the answer, never older.
      view = service.pin();
      return lintNamespaces(parts, view, outcome.value, (finding) => found.add(finding));
    });
  } finally {
    view?.close();
  }
  const answer = { Index: outcome.index, Findings: found.shown, More: found.more };
  return { ...outcome, value: JSON.stringify(answer) };
}

/** Keeps the findings of an answer, the most severe ones if there are too many. */
class Findings {
  readonly #bySeverity: ReadonlyMap<Severity, StoredFinding[]>;
  #count = 0;

  constructor(least: Severity) {
    const kept = SEVERITIES.slice(0, SEVERITIES.indexOf(least) + 1);
    this.#bySeverity = new Map(kept.map((severity) => [severity, []]));
  }

  add(finding: StoredFinding): void {
    const list = this.#bySeverity.get(finding.Severity);
    if (list === undefined) return;
    this.#count += 1;
    if (list.length < FINDINGS_MAX) list.push(finding);
  }

  get shown(): readonly StoredFinding[] {
    return [...this.#bySeverity.values()].flat().slice(0, FINDINGS_MAX);
  }

  get more(): number {
    return Math.max(0, this.#count - FINDINGS_MAX);
  }
}
