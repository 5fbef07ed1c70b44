/** The use case that reads the history of one object (beyond.md 3.3). */
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { hiddenText, modifiedAt, nameIn, spelledId } from '../../state/history/contents.js';
import { type Dated, datedVersion, objectAt } from '../../state/history/past.js';
import { type Place, versionsOf } from '../../state/history/records.js';
import { putForm } from '../../state/put-form.js';
import { tableOfType } from '../../state/refs.js';
import type { View } from '../../state/types.js';
import { differences } from '../change/diff.js';
import { stateIndex } from '../common/reading.js';
import type { ReadUseCase } from '../common/types.js';
import { known, mustBeKept, placeOfPath, presentText, shownAuthor, shownTime } from './places.js';

/** What is asked about the history of an object. */
export interface HistoryQuery {
  readonly type: string;
  readonly id: string;
  readonly limit: number;
  /** Only versions before this index. */
  readonly before?: number | undefined;
  /** One version, with its content. */
  readonly version?: number | undefined;
  /** How two versions differ. `to` absent: the present. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A version as answers show it. `text`: its content; undefined if the object was deleted. */
interface Shown {
  readonly index: number;
  readonly dated: Dated | undefined;
  readonly isCurrent: boolean;
  readonly text: string | undefined;
}

/** Reads versions of an object, one of them, or how two differ; undefined if nothing is known. */
export const readVersions =
  (ns: string, query: HistoryQuery): ReadUseCase<string | undefined> =>
  (context) => {
    const { view, authorizer } = context;
    mustBeKept(view);
    const place = placeOfPath(context, ns, query);
    const answer = place && new ObjectHistory(view, authorizer, place).answer(query);
    const value = answer === undefined ? undefined : JSON.stringify(answer);
    return { value, index: stateIndex(view), keys: [] };
  };

class ObjectHistory {
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #place: Place;
  readonly #present: string | undefined;
  /** The keys of its versions, oldest first. */
  readonly #keys: readonly string[];

  constructor(view: View, authorizer: Authorizer, place: Place) {
    this.#view = view;
    this.#authorizer = authorizer;
    this.#place = place;
    const present = presentText(view, place);
    this.#present = present === undefined ? undefined : hiddenText(place, present);
    this.#keys = [...view.keys(versionsOf(place))];
  }

  answer({ limit, before, version, from, to }: HistoryQuery): object | undefined {
    const last = this.#lastText();
    if (last === undefined) return undefined;
    const { type, ns } = this.#place;
    const name = nameIn(this.#place, last);
    const head = { Type: type, ID: spelledId(this.#place, name), Name: name, Namespace: ns };
    if (from !== undefined) return this.#difference(from, to);
    if (version !== undefined) return { ...head, ...this.#one(version) };
    const Versions: object[] = [];
    for (const shown of this.#newestFirst()) {
      if (before !== undefined && shown.index >= before) continue;
      if (Versions.length === limit) return { ...head, ...this.#exists, Versions, More: true };
      Versions.push(this.#row(shown));
    }
    return { ...head, ...this.#exists, Versions, More: false };
  }

  get #exists(): { readonly Exists: boolean } {
    return { Exists: this.#present !== undefined };
  }

  /** Returns the newest content; undefined if nothing is known of the object. */
  #lastText(): string | undefined {
    for (const { text } of this.#newestFirst()) if (text !== undefined) return text;
    return undefined;
  }

  *#newestFirst(): Iterable<Shown> {
    let isFirst = true;
    for (const key of this.#keys.toReversed()) {
      const dated = datedVersion(this.#view, key);
      const { content } = dated.version;
      if (isFirst && content !== undefined && this.#present !== undefined) yield this.#unknown();
      isFirst = false;
      const isCurrent = content === undefined;
      const text = isCurrent ? this.#present : content === 'null' ? undefined : content;
      yield { index: dated.index, dated, isCurrent, text };
    }
    if (isFirst && this.#present !== undefined) yield this.#unknown();
  }

  /** Returns the present object, of which no version is kept. */
  #unknown(): Shown {
    const text = this.#present!;
    return { index: modifiedAt(text), dated: undefined, isCurrent: true, text };
  }

  #row({ index, dated, isCurrent, text }: Shown): object {
    const {
      operation = 'unknown',
      timeMs = null,
      author = null,
      reason = '',
    } = dated?.version ?? {};
    return {
      Index: index,
      Operation: operation,
      Time: shownTime(timeMs),
      Author: shownAuthor(this.#authorizer, this.#place.ns, author),
      Reason: reason,
      Current: isCurrent,
      Size: text === undefined ? 0 : Buffer.byteLength(text),
    };
  }

  #one(index: number): object {
    let oldest = index;
    for (const shown of this.#newestFirst()) {
      if (shown.index === index) return { ...this.#row(shown), Object: this.#object(shown.text) };
      oldest = shown.index;
    }
    const hint = `the oldest version that is kept is ${oldest}`;
    return reject('not_found', `Version ${index} is not kept, or there was none`, { hint });
  }

  /** Returns the form of a PUT of an object, with its indexes; null if there is none. */
  #object(text: string | undefined): object | null {
    if (text === undefined) return null;
    const object = JSON.parse(text) as { CreateIndex: number; ModifyIndex: number };
    const { CreateIndex, ModifyIndex } = object;
    return { ...this.#form(object), CreateIndex, ModifyIndex };
  }

  #form(object: object): Readonly<Record<string, unknown>> {
    return putForm(this.#view, tableOfType(this.#place.type)!, object, { ids: true });
  }

  #difference(from: number, to: number | undefined): object {
    const view = this.#view;
    const formAt = (index: number): Readonly<Record<string, unknown>> | undefined => {
      const { text } = known(view, index, () => objectAt(view, this.#place, index));
      return text === undefined ? undefined : this.#form(JSON.parse(text) as object);
    };
    const last = to ?? stateIndex(view);
    const Diff = differences(tableOfType(this.#place.type)!, formAt(from), formAt(last));
    return { From: from, To: to ?? this.#newestIndex(), Diff };
  }

  #newestIndex(): number {
    for (const { index } of this.#newestFirst()) return index;
    return 0;
  }
}
