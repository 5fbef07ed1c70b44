/**
 * Requests of the Authorization API 1.0 (AuthZEN), as decisions.md 1.2 has them: members that are
 * not known are ignored, those that are must have the right type.
 */
import { ApiError, reject } from '../../base/errors.js';
import { isObject } from '../../languages/fields.js';
import { usualList, usualObject, usualText } from '../../languages/usual-json.js';
import { type Entity, namespaceIn, resourceType } from './questions.js';

type Json = Entity['properties'];

/** One question of a request. */
export interface Evaluation {
  readonly subject: Entity;
  readonly action: string;
  readonly resource: Entity;
}

/** A malformed item of a batch: why, and what it asks about if that can be read. */
export interface NoQuestion extends Partial<Pick<Evaluation, 'action' | 'resource'>> {
  readonly problem: string;
}

/** An item of a batch. */
export type Item = Evaluation | NoQuestion;

/** When a batch ends. */
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;
export type Semantics = (typeof SEMANTICS)[number];

/** A batch of questions. */
export interface Batch {
  readonly items: readonly Item[];
  readonly semantics: Semantics;
}

/** What a search asks for, and which page of it. */
export interface Search {
  readonly subject: Entity;
  /** Empty where actions are searched. */
  readonly action: string;
  readonly resource: Entity;
  readonly ns: string;
  readonly limit: number;
  /** Empty: the first page. */
  readonly token: string;
}

/** Items of a batch: they are decided in slices, on one state. */
const BATCH_ITEMS_MAX = 256;
/** Characters of a type or a name. */
const NAME_MAX = 128;
/** Characters of an id. */
const ID_MAX = 2_048;
/** Characters of a JWT, as logins take them. */
const JWT_MAX = 32_768;
/** Bytes of properties and of a context as JSON. */
const PROPERTIES_MAX = 16 * 1024;
/** Results of a page: as many as lists have. */
const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 100;

const ENTITY = usualObject({ type: usualText, id: usualText }, (type, id) => ({ type, id }));
const ACTION = usualObject({ name: usualText }, (name) => ({ name }));
const MEMBERS = { subject: ENTITY, action: ACTION, resource: ENTITY };
const ITEM = usualObject(MEMBERS, (subject, action, resource) => ({ subject, action, resource }));

/** A request as most clients send it: without properties, context and options. */
export const USUAL_REQUEST = usualObject(
  { ...MEMBERS, evaluations: usualList(ITEM) },
  (subject, action, resource, evaluations) => ({ subject, action, resource, evaluations }),
);

/** Reads one question. Throws ApiError 400. */
export function evaluationOf({ context, subject, action, resource }: Json): Evaluation {
  checkSize(context, 'context');
  return {
    subject: subjectOf(subject),
    action: actionOf(action),
    resource: resourceOf(resource),
  };
}

/** Reads a batch; a single question if it has no items. Throws ApiError 400. */
export function batchOf(body: Json): Batch | Evaluation {
  const { evaluations, options } = body;
  const semantics = semanticsOf(options);
  checkSize(body['context'], 'context');
  if (evaluations === undefined) return evaluationOf(body);
  if (!Array.isArray(evaluations)) return invalid('evaluations is not a list');
  if (evaluations.length === 0) return evaluationOf(body);
  if (evaluations.length > BATCH_ITEMS_MAX)
    invalid(`evaluations has ${evaluations.length} items, at most ${BATCH_ITEMS_MAX} are accepted`);
  const defaults = {
    subject: new Default(body['subject'], subjectOf),
    action: new Default(body['action'], actionOf),
    resource: new Default(body['resource'], resourceOf),
  };
  const items = evaluations.map((item: unknown, at): Item => {
    if (!isObject(item)) return invalid(`evaluations[${at}] is not an object`);
    return attempt(item, defaults);
  });
  return { items, semantics };
}

/** What a search looks for. */
export type Searched = 'subject' | 'resource' | 'action';

/** Reads a search. `missing`: what it asks for, which is ignored. Throws ApiError 400. */
export function searchOf(body: Json, missing: Searched, ns: string): Search {
  const subject = entityOf(body['subject'], 'subject', missing !== 'subject');
  const resource = resourceOf(body['resource'], missing !== 'resource');
  const action = missing === 'action' ? '' : actionOf(body['action']);
  checkSize(body['context'], 'context');
  return { subject, action, resource, ns, ...pageOf(body['page']) };
}

function pageOf(page: unknown): Pick<Search, 'limit' | 'token'> {
  if (page === undefined) return { limit: LIMIT_DEFAULT, token: '' };
  if (!isObject(page)) return invalid('page is not an object');
  const { limit = LIMIT_DEFAULT, token = '' } = page;
  const isCount = typeof limit === 'number' && Number.isInteger(limit);
  if (!isCount || limit < 0 || limit > LIMIT_MAX)
    return invalid(`page.limit is not a whole number between 0 and ${LIMIT_MAX}`);
  if (typeof token !== 'string') return invalid('page.token is not a string');
  return { limit, token };
}

function semanticsOf(options: unknown): Semantics {
  if (options === undefined) return SEMANTICS[0];
  if (!isObject(options)) return invalid('options is not an object');
  const { evaluations_semantic: wanted = SEMANTICS[0] } = options;
  const known = SEMANTICS.find((one) => one === wanted);
  return known ?? invalid(`options.evaluations_semantic is not one of: ${SEMANTICS.join(', ')}`);
}

/** A member of the whole request, which is read when the first item lacks it. */
class Default<T> {
  readonly #sent: unknown;
  readonly #of: (sent: unknown) => T;
  #read: T | undefined;

  constructor(sent: unknown, of: (sent: unknown) => T) {
    this.#sent = sent;
    this.#of = of;
  }

  /** Throws ApiError 400. */
  get value(): T {
    this.#read ??= this.#of(this.#sent);
    return this.#read;
  }
}

/** Members of the whole request that items share. */
interface Defaults {
  readonly subject: Default<Entity>;
  readonly action: Default<string>;
  readonly resource: Default<Entity>;
}

/** Reads an item. A member that it lacks is the whole one of the request. */
function itemOf(item: Json, defaults: Defaults): Evaluation {
  const { context, subject } = item;
  checkSize(context, 'context');
  return {
    subject: subject === undefined ? defaults.subject.value : subjectOf(subject),
    ...accessOf(item, defaults),
  };
}

function accessOf({ action, resource }: Json, defaults: Defaults) {
  return {
    action: action === undefined ? defaults.action.value : actionOf(action),
    resource: resource === undefined ? defaults.resource.value : resourceOf(resource),
  };
}

const subjectOf = (subject: unknown): Entity => entityOf(subject, 'subject', true);

/** The properties of an entity without any. */
const NONE: Json = {};

function entityOf(entity: unknown, name: 'subject' | 'resource', hasId: boolean): Entity {
  const { type, id, properties = NONE } = objectOf(entity, name);
  const typeText = textOf(type, `${name}.type`, NAME_MAX, 1);
  const isJwt = name === 'subject' && typeText === 'jwt';
  const idText = hasId ? textOf(id, `${name}.id`, isJwt ? JWT_MAX : ID_MAX) : '';
  if (!isObject(properties)) return invalid(`${name}.properties is not an object`);
  if (properties !== NONE) checkSize(properties, `${name}.properties`);
  return { type: typeText, id: idText, properties };
}

function resourceOf(value: unknown, hasId = true): Entity {
  const resource = entityOf(value, 'resource', hasId);
  resourceType(resource.type);
  namespaceIn(resource.properties, 'resource');
  return resource;
}

function actionOf(action: unknown): string {
  const { name, properties } = objectOf(action, 'action');
  checkSize(properties, 'action.properties');
  return textOf(name, 'action.name', NAME_MAX, 1);
}

function objectOf(value: unknown, name: string): Json {
  if (value === undefined) return invalid(`${name} is missing`);
  return isObject(value) ? value : invalid(`${name} is not an object`);
}

function textOf(value: unknown, name: string, most: number, least = 0): string {
  if (value === undefined) return invalid(`${name} is missing`);
  if (typeof value !== 'string') return invalid(`${name} is not a string`);
  if (value.length >= least && value.length <= most) return value;
  return invalid(`${name} has ${value.length} characters: ${least} to ${most} are accepted`);
}

function checkSize(value: unknown, name: string): void {
  if (value === undefined) return;
  if (!isObject(value)) invalid(`${name} is not an object`);
  if (Buffer.byteLength(JSON.stringify(value)) > PROPERTIES_MAX)
    invalid(`${name} has more than ${PROPERTIES_MAX} bytes of JSON`);
}

/** Reads an item. A problem concerns this item only. */
function attempt(item: Json, defaults: Defaults): Item {
  const whole = tried(() => itemOf(item, defaults));
  if (!('problem' in whole)) return whole;
  return { ...tried(() => accessOf(item, defaults)), problem: whole.problem };
}

/** Returns what is read, or the sentence of its refusal. */
function tried<T>(read: () => T): T | { readonly problem: string } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { problem: error.refusal.message };
  }
}

const invalid = (message: string): never => reject('invalid', message);
