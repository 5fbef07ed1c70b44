/** The use case that reads the history of one object (beyond.md 3.3). */
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { hiddenText, nameIn, spelledId } from '../../state/history/contents.js';
import { NotKnown, objectAt } from '../../state/history/past.js';
import type { Place } from '../../state/history/records.js';
import { historyBounds } from '../../state/history/settings.js';
import {
  deedOfVersion,
  newestVersion,
  numberOf,
  type Version,
  versionsOf,
} from '../../state/history/versions.js';
import { linkKey, take } from '../../state/links.js';
import { putForm } from '../../state/put-form.js';
import { tableOfType } from '../../state/refs.js';
import type { View } from '../../state/types.js';
import { differences } from '../change/diff.js';
import { stateIndex } from '../common/reading.js';
import type { ReadUseCase } from '../common/types.js';
import {
  known,
  mustBeKept,
  placeOfPath,
  presentText,
  readDenial,
  shownAuthor,
  shownTime,
} from './places.js';

/** What is asked about the history of an object. */
export interface HistoryQuery {
  readonly type: string;
  readonly id: string;
  readonly limit: number;
  readonly before?: number | undefined;
  /** One version, with its content. */
  readonly version?: number | undefined;
  /** How two versions differ. `to` absent: the present. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
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

  constructor(view: View, authorizer: Authorizer, place: Place) {
    this.#view = view;
    this.#authorizer = authorizer;
    this.#place = place;
  }

  answer({ limit, before, version, from, to }: HistoryQuery): object | undefined {
    const last = this.#lastText();
    if (last === undefined) return undefined;
    const { type, ns } = this.#place;
    const name = nameIn(this.#place, last);
    const head = { Type: type, ID: spelledId(this.#place, name), Name: name, Namespace: ns };
    if (from !== undefined) return this.#difference(from, to);
    if (version !== undefined) return { ...head, ...this.#one(version) };
    const Exists = this.#shown(presentText(this.#view, this.#place)) !== undefined;
    const Versions: object[] = [];
    for (const shown of this.#newestFirst(before)) {
      if (Versions.length === limit) return { ...head, Exists, Versions, More: true };
      Versions.push(this.#row(shown));
    }
    return { ...head, Exists, Versions, More: false };
  }

  /** Returns the newest content, which may have secrets; undefined if nothing is known. */
  #lastText(): string | undefined {
    for (const { text } of versionsOf(this.#view, this.#place)) {
      const shown = this.#shown(text);
      if (shown !== undefined) return shown;
    }
    return undefined;
  }

  /** Returns a text of the object; undefined too if the caller may not read it under its name. */
  #shown(text: string | undefined): string | undefined {
    const id = text === undefined ? undefined : spelledId(this.#place, nameIn(this.#place, text));
    return id === undefined || !this.#mayRead(id) ? undefined : text;
  }

  /** Rules name services exactly, and an entry has one history in any letter case. */
  #mayRead(id: string): boolean {
    if (this.#place.type !== 'config') return true;
    return readDenial(this.#authorizer, { ...this.#place, id }) === undefined;
  }

  /** Yields the versions before an index, as many as the bound on their number lets be shown. */
  *#newestFirst(before?: number): Iterable<Version> {
    const view = this.#view;
    const newest = newestVersion(view, this.#place);
    if (newest === undefined) return;
    const oldest = numberOf(newest) - Math.max(historyBounds(view).VersionsPerObject, 1);
    for (const version of versionsOf(view, this.#place, before)) {
      if (version.index !== newest.index && numberOf(version) <= oldest) return;
      const { line, text } = version;
      const isShown =
        text === undefined
          ? this.#mayRead(line?.id ?? this.#place.id)
          : this.#shown(text) !== undefined;
      if (isShown) yield version;
    }
  }

  #row(version: Version): object {
    const { index, text } = version;
    const { operation, timeMs, author, reason } = deedOfVersion(this.#view, this.#place, version);
    return {
      Index: index,
      Operation: operation,
      Time: shownTime(timeMs),
      Author: shownAuthor(this.#authorizer, this.#place.ns, author),
      Reason: reason,
      Current: index === newestIndex(this.#view, this.#place) && text !== undefined,
      Size: text === undefined ? 0 : Buffer.byteLength(hiddenText(this.#place, text)),
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
    const object = JSON.parse(hiddenText(this.#place, text)) as {
      CreateIndex: number;
      ModifyIndex: number;
    };
    const { CreateIndex, ModifyIndex } = object;
    return { ...this.#form(object, ModifyIndex), CreateIndex, ModifyIndex };
  }

  /** Returns the form at an index. Links have present names, or those of then if they are gone. */
  #form(object: object, index: number): Readonly<Record<string, unknown>> {
    const view = this.#view;
    const get = (key: string): string | undefined => {
      const text = view.get(key);
      const type = LINKED.find((each) => key.startsWith(linkKey(each, '')));
      if (type === undefined || text?.includes('"Name"')) return text;
      const id = key.slice(linkKey(type, '').length);
      return textThen(view, { type, ns: this.#place.ns, id }, index);
    };
    const names: View = { get, keys: (...asked) => view.keys(...asked) };
    return putForm(names, tableOfType(this.#place.type)!, object, { ids: true });
  }

  #difference(from: number, to: number | undefined): object {
    const view = this.#view;
    const formAt = (index: number): Readonly<Record<string, unknown>> | undefined => {
      const then = known(view, index, () => objectAt(view, this.#place, index));
      const text = this.#shown(then.text);
      return text === undefined ? undefined : this.#form(JSON.parse(text) as object, index);
    };
    const last = to ?? stateIndex(view);
    const Diff = differences(tableOfType(this.#place.type)!, formAt(from), formAt(last));
    const [newest] = take(this.#newestFirst(), 1);
    return { From: from, To: to ?? newest?.index ?? 0, Diff };
  }
}

const LINKED = ['policy', 'role'] as const;

/** Returns what an object was at an index; undefined if it did not exist, or that is not known. */
function textThen(view: View, place: Place, index: number): string | undefined {
  try {
    return objectAt(view, place, index).text;
  } catch (error) {
    if (error instanceof NotKnown) return undefined;
    throw error;
  }
}

const newestIndex = (view: View, place: Place): number => newestVersion(view, place)?.index ?? 0;
