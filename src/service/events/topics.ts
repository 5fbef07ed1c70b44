/**
 * Topics of events (beyond.md 6.1): one for each type of objects, and the rights of a token. A
 * reader names topics, or single objects of them:
 *
 *     ACLRole, ACLPolicy:ops, ConfigEntry:service-defaults, ConfigEntry:service-defaults/web
 *
 * A comma in a name may be written as `%2C`.
 */
import { isUuid } from '../../acl/names.js';
import { reject } from '../../base/errors.js';
import { didYouMean } from '../../languages/suggest.js';
import type { ObjectType } from '../../state/refs.js';

/** The topics of objects, by type. */
export const TOPIC_OF = {
  namespace: 'Namespace',
  policy: 'ACLPolicy',
  role: 'ACLRole',
  'auth-method': 'ACLAuthMethod',
  'binding-rule': 'ACLBindingRule',
  token: 'ACLToken',
  config: 'ConfigEntry',
} as const satisfies Readonly<Record<ObjectType, string>>;

/** The topic of changes of the rights of tokens. */
const RIGHTS = 'Rights';

const OBJECT_TOPICS: readonly string[] = Object.values(TOPIC_OF);
const TOPICS = [...OBJECT_TOPICS, RIGHTS];
/** Topics and objects that one reader may name. */
const TOPICS_MAX = 1000;

/** What a reader asks for. */
export interface TopicFilter {
  /** Topics, and objects as `Topic:key`, keys in lower case. */
  readonly items: ReadonlySet<string>;
  /** AccessorIDs of tokens whose rights it asks for; '' for its own. */
  readonly rights: readonly string[];
}

const ALL: TopicFilter = { items: new Set(OBJECT_TOPICS), rights: [] };

/** Parses the parameter `topics`. Absent: all topics of objects. Throws ApiError 400. */
export function topicsIn(text: string | undefined): TopicFilter {
  if (text === undefined) return ALL;
  const items = new Set<string>();
  const rights = new Set<string>();
  const named = itemsIn(text);
  if (named.length > TOPICS_MAX)
    refuse(`it names ${named.length} topics, and ${TOPICS_MAX} are possible`);
  for (const item of named) {
    const colon = item.indexOf(':');
    const topic = colon < 0 ? item : item.slice(0, colon);
    const key = colon < 0 ? undefined : item.slice(colon + 1);
    if (!TOPICS.includes(topic)) {
      const shown = JSON.stringify(topic.slice(0, 64));
      refuse(`${shown} is not a topic${didYouMean(topic, TOPICS)}`);
    }
    if (key === '') refuse(`${topic} has an empty key`);
    if (topic !== RIGHTS) {
      items.add(itemOf(topic, key));
      if (key !== undefined) items.add(itemOf(topic, key.replace(/%2C/gi, ',')));
    } else if (key === undefined || isUuid(key)) rights.add(key?.toLowerCase() ?? '');
    else refuse('the key of Rights is not an AccessorID');
  }
  return { items, rights: [...rights] };
}

const HINT = `topics are ${TOPICS.join(', ')}, or one of them with a key, such as ACLRole:ops`;

function refuse(why: string): never {
  reject('invalid', `Invalid parameter "topics": ${why}`, { hint: HINT });
}

/** An entry whose kind and name are given. */
const ENTRY = /^ConfigEntry:[^/]*\//;
const STARTS_WITH_TOPIC = new RegExp(`^(?:${TOPICS.join('|')})(?::|$)`);

/** Splits the parameter at commas, but for those in the name of a config entry. */
function itemsIn(text: string): string[] {
  const items: string[] = [];
  for (const part of text.split(',')) {
    const last = items.at(-1) ?? '';
    const isOfName = ENTRY.test(last) && !STARTS_WITH_TOPIC.test(part);
    if (isOfName) items[items.length - 1] = `${last},${part}`;
    else items.push(part);
  }
  return items;
}

/** Returns how a topic, or an object of it, is named in a filter. */
export const itemOf = (topic: string, key?: string): string =>
  key === undefined ? topic : `${topic}:${key.toLowerCase()}`;
