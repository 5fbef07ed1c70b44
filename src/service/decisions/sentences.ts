/** Why an access is denied or allowed, in the sentence of explanations, and for users. */

import { rightsBehind } from '../../acl/authorizer.js';
import type { Explainer } from '../../acl/explain.js';
import { sentenceOf } from '../../acl/explain-text.js';
import type { Asked } from '../../acl/reasons.js';
import { ApiError } from '../../base/errors.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { type ExplainParts, subjectOf } from '../explain/subject.js';
import type { WorkOwner } from '../reads/long-work.js';
import { rightsIdOf } from '../rights/authorizers.js';
import type { SharedRights } from '../rights/rights-cache.js';
import type { Entity } from './questions.js';
import type { About, Holder } from './subjects.js';

interface Known {
  readonly shared: WeakRef<SharedRights>;
  readonly explainer: Promise<Explainer | undefined>;
}

/** Bytes of rights whose texts are cached for sentences: enough for a few large tokens. */
const KEPT_BYTES = 8 * 2 ** 20;
/** Characters of an id that the sentence for users shows. */
const ID_SHOWN = 128;

/** Makes sentences. Those about equal rights share what they are made from. */
export class Sentences {
  readonly #parts: Pick<ExplainParts, 'authorizers' | 'defaultPolicy' | 'longWork'>;
  readonly #known = new WeightedCache<Known>(KEPT_BYTES);

  constructor(parts: Pick<ExplainParts, 'authorizers' | 'defaultPolicy' | 'longWork'>) {
    this.#parts = parts;
  }

  /**
   * Returns the sentence of a decision. It says where the rule stands, unless the rights have
   * changed since the decision, or too much else is to be explained.
   */
  async of(holder: Holder, asked: Asked, owner: WorkOwner): Promise<string> {
    const about = holder.about();
    const explainer = about && (await this.#explainer(holder, about, owner)?.catch(ifBusy));
    if (explainer !== undefined) return explainer.sentence(asked);
    const { authorizer } = holder;
    const { resource, access, segment, namespace } = asked;
    const why = authorizer.why(resource, access, segment, namespace);
    const { rule } = why;
    const winner = rule && {
      Resource: rule.resource,
      Match: rule.match,
      Name: rule.name,
      Level: rule.level,
      Rule: null,
      Sources: [],
      MoreSources: 0,
    };
    return sentenceOf(asked, why, winner ?? null, authorizer.anonymous);
  }

  #explainer(
    { authorizer }: Holder,
    about: About,
    owner: WorkOwner,
  ): Promise<Explainer | undefined> | undefined {
    const { token, shared } = about;
    // It must speak of the rights that have decided.
    if (shared instanceof Promise || rightsBehind(authorizer) !== shared.rights) return undefined;
    // The anonymous token is never given what an equal token has.
    const id = `${authorizer.anonymous ? 'anonymous ' : ''}${rightsIdOf(token)}`;
    const known = this.#known.get(id);
    if (known?.shared.deref() === shared) return known.explainer;
    const explainer = this.#made(about, owner);
    this.#known.set(id, { shared: new WeakRef(shared), explainer }, shared.rights.weight);
    explainer.catch(() => {
      if (this.#known.get(id)?.explainer === explainer) this.#known.delete(id);
    });
    return explainer;
  }

  async #made(
    { collected, token, shared }: About,
    owner: WorkOwner,
  ): Promise<Explainer | undefined> {
    const { authorizers, longWork } = this.#parts;
    const steps = subjectOf(this.#parts, () => collected);
    const subject = await longWork.runSoon(owner, 'explain', steps);
    return authorizers.rightsOf(token) === shared ? subject?.explainer : undefined;
  }
}

/**
 * Says to a user what they may not do, as far as that can be read. It names no rule, policy or
 * role.
 */
export function userSentence(action?: string, resource?: Entity): string {
  if (action === undefined || resource === undefined) return 'You may not do this.';
  const { type, id } = resource;
  const what = id.length > ID_SHOWN ? `${[...id].slice(0, ID_SHOWN).join('')}…` : id;
  return `You may not ${[action, type, what].filter((word) => word !== '').join(' ')}.`;
}

/** Swallows `too_many`: a decision is answered without its sentence rather than late. */
function ifBusy(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.refusal.code !== 'too_many') throw error;
}
