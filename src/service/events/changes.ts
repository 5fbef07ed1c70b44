/** Lines of the history as events: their texts, which all readers of this node share. */
import type { Authorizer } from '../../acl/types.js';
import type { Author } from '../../state/author.js';
import { hiddenText, isOfLogin } from '../../state/history/contents.js';
import { NotKnown } from '../../state/history/past.js';
import { type Line, objectKeyOf, placeOfLine, type RingLine } from '../../state/history/records.js';
import type { Link } from '../../state/links.js';
import { linksAt } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { hideSecrets } from '../../state/put-form.js';
import { type ObjectType, tableOfType } from '../../state/refs.js';
import type { View } from '../../state/types.js';
import { Links } from '../common/reading.js';
import { textAfterLine } from '../history/after.js';
import { readDenial, shownAuthor, shownTime } from '../history/places.js';
import { itemOf, TOPIC_OF } from './topics.js';

/** How a reader wants events. */
export interface EventForm {
  readonly hasPayload: boolean;
}

/** The members of a stored object that an event uses. */
type Body = Readonly<Record<string, unknown>>;

/** A change of one object. */
export class ObjectChange {
  readonly index: number;
  /** Whether it is about the token of a login. */
  readonly isOfLogin: boolean;
  /** The key of the object in the state. */
  readonly stateKey: string;
  readonly topic: string;
  /** How filters may name it. */
  readonly items: readonly string[];
  readonly #line: RingLine;
  readonly #view: View;
  readonly #key: string;
  readonly #name: string;
  readonly #others: readonly string[];
  /** What every reader sees of it, before and after its author. */
  #head: string | undefined;
  #payload: string | undefined;
  /** The texts by whether the author and the payload are shown. */
  readonly #texts = new Map<string, string>();

  constructor(view: View, line: RingLine) {
    const type = line.type as ObjectType;
    this.index = line.index;
    this.#line = line;
    this.#view = view;
    this.isOfLogin = this.#isOfLogin();
    this.stateKey = objectKeyOf(placeOfLine(line));
    this.topic = TOPIC_OF[type];
    const { key, name, others } = namesOf(line);
    this.#key = key;
    this.#name = name;
    this.#others = others;
    this.items = [undefined, key, ...others].map((each) => itemOf(this.topic, each));
  }

  /** Whether a reader of a namespace (`*`: of all) asks for it. */
  isIn(ns: string): boolean {
    const { type, ns: own, id } = this.#line;
    return ns === '*' || ns === own || (type === 'namespace' && ns === id);
  }

  /** Returns the event as JSON as a caller may see it; undefined if that is nothing. */
  textFor(authorizer: Authorizer, { hasPayload }: EventForm): string | undefined {
    const { ns, id, author } = this.#line;
    const type = this.#line.type as ObjectType;
    if (readDenial(authorizer, { type, ns, id }) !== undefined) return undefined;
    const by = shownAuthor(authorizer, ns, author);
    const form = `${by === null}${hasPayload}`;
    let text = this.#texts.get(form);
    if (text === undefined) {
      text = this.#text(by, hasPayload);
      this.#texts.set(form, text);
    }
    return text;
  }

  #text(by: Author | null, hasPayload: boolean): string {
    this.#head ??= this.#headText();
    const payload = hasPayload ? `,"Payload":${this.#payloadText()}` : '';
    const reason = JSON.stringify(this.#line.reason);
    return `${this.#head},"Author":${JSON.stringify(by)},"Reason":${reason}${payload}}`;
  }

  /** The place of its type in the order of plans. */
  get order(): number {
    return ORDER.indexOf(this.topic);
  }

  #headText(): string {
    const { index, ns, timeMs } = this.#line;
    const head = {
      Topic: this.topic,
      Type: `${this.topic}${this.#verb()}`,
      Key: this.#key,
      Name: this.#name,
      Namespace: ns,
      FilterKeys: this.#others,
      Index: index,
      Time: shownTime(timeMs),
    };
    return JSON.stringify(head).slice(0, -1);
  }

  #verb(): string {
    const { operation, was, content } = this.#line;
    if (operation === 'create') return 'Created';
    if (operation === 'update') return 'Updated';
    if (operation === 'delete') return 'Deleted';
    if (this.#after() === undefined) return 'Deleted';
    return was === 0 || content === undefined ? 'Created' : 'Updated';
  }

  #isOfLogin(): boolean {
    const { ring, type, operation, content } = this.#line;
    if (ring === 'login-change') return true;
    // An update is in the ring of changes, whose token it is.
    if (type !== 'token' || operation === 'create' || operation === 'delete') return false;
    return isOfLogin(placeOfLine(this.#line), content ?? this.#after() ?? '');
  }

  /** Returns the object as of the index; undefined if it was deleted, or that is not kept. */
  #after(): string | undefined {
    try {
      return textAfterLine(this.#view, this.#line);
    } catch (error) {
      if (error instanceof NotKnown) return undefined;
      throw error;
    }
  }

  #payloadText(): string {
    if (this.#payload !== undefined) return this.#payload;
    const isEmpty = this.isOfLogin || this.#line.operation === 'delete';
    const text = isEmpty ? undefined : this.#after();
    this.#payload =
      text === undefined ? '{}' : `{"${this.topic}":${shownText(this.#view, this.#line, text)}}`;
    return this.#payload;
  }
}

const ORDER: readonly string[] = Object.values(TOPIC_OF);

/** Returns the key of an object, its name, and by what else filters may name it. */
function namesOf({ type, id, name }: Line): {
  readonly key: string;
  readonly name: string;
  readonly others: readonly string[];
} {
  if (type === 'config') {
    const kind = id.slice(0, id.indexOf('/'));
    return { key: id, name, others: [kind] };
  }
  if (type === 'auth-method' || type === 'namespace') return { key: name, name, others: [] };
  const isNamed = type !== 'token' && name !== id;
  return { key: id, name, others: isNamed ? [name] : [] };
}

/** Returns an object as a reader of ACLs sees it: links with names, secrets hidden. */
function shownText(view: View, line: Line, text: string): string {
  const table = tableOfType(line.type)!;
  if (table === 'config') return hiddenText(placeOfLine(line), text);
  const object: Body = hideSecrets(table, JSON.parse(text) as object) as Body;
  const links = new Links(view);
  let shown = object;
  for (const field of OBJECTS[table].linkFields) {
    const named = links.named(field.to, linksAt(object as never, field) as readonly Link[]);
    shown = withLinks(shown, field.path, named);
  }
  return JSON.stringify(shown);
}

function withLinks(object: Body, [name = '', ...rest]: readonly string[], links: object): Body {
  if (object[name] === undefined) return object;
  const value = rest.length === 0 ? links : withLinks(object[name] as Body, rest, links);
  return { ...object, [name]: value };
}
