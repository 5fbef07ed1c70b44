/** What the conversions of all types share: findings, what is left out, and links. */
import { isReservedId } from '../../acl/builtin.js';
import type { Finding, FindingCode } from '../../api/migration-report.js';
import { finding } from '../report/findings.js';
import type { ConvertOptions, Refused, Shown, SourceState } from './types.js';

/** The policy that each new namespace gets here too, with an ID of its own. */
export const MANAGEMENT_POLICY = 'namespace-management';
/** What the server adds to objects. */
const ADDED = ['CreateIndex', 'ModifyIndex', 'Hash', 'Namespace'];
/** The value of a secret that is not shown. */
export const HIDDEN = '<hidden>';

/** A link to a policy or a role, as it is written. */
export type Link = { readonly ID: string } | { readonly Name: string };

/** Returns the text of a member; empty if it is none. */
export const textOf = (one: Shown, member: string): string => {
  const value = one[member];
  return typeof value === 'string' ? value : '';
};

/** Returns a member that is a list of objects; empty if it is none. */
export const listIn = (one: Shown, member: string): readonly Shown[] => {
  const value = one[member];
  return Array.isArray(value) ? (value as Shown[]) : [];
};

/** Whether a secret is not shown. */
export const isHidden = (secret: unknown): boolean =>
  typeof secret !== 'string' || secret === '' || secret === HIDDEN;

/** Whether a value says nothing: members with it can be left out. */
export const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && Object.values(value).every(isNothing));

/** Returns the Ref of an object of a namespace. */
export const refOf = (type: string, one: Shown): string => {
  const ns = textOf(one, 'Namespace');
  if (type === 'token') return `token/${textOf(one, 'AccessorID')}`;
  if (type === 'binding-rule')
    return `binding-rule/${ns}/${textOf(one, 'Handle') || textOf(one, 'ID')}`;
  const name = textOf(one, 'Name');
  if (type === 'namespace') return `namespace/${name}`;
  if (type === 'config') {
    const kind = textOf(one, 'Kind');
    // The only entry of its kind has no name at a source.
    return `config/${ns}/${kind}/${kind === 'mesh' ? 'mesh' : name}`;
  }
  return `${type}/${ns}/${name}`;
};

/** A conversion under way. */
export class Conversion {
  readonly source: SourceState;
  readonly options: ConvertOptions;
  readonly findings: Finding[] = [];
  /** The Refs of what is left out, in lower case. */
  readonly #leftOut = new Set<string>();
  readonly #refused: ReadonlyMap<string, Refused>;
  /** The Refs of policies and roles by type, namespace and ID. */
  readonly #targets = new Map<string, string>();

  constructor(source: SourceState, options: ConvertOptions) {
    this.source = source;
    this.options = options;
    this.#refused = new Map((options.refused ?? []).map((one) => [one.Ref.toLowerCase(), one]));
    const known = { policy: source.policies, role: source.roles };
    for (const [type, list] of Object.entries(known))
      for (const one of list) this.#targets.set(targetKey(type, one, one['ID']), refOf(type, one));
  }

  /** Notes something that does not leave the object out. */
  note(
    ref: string,
    code: FindingCode,
    message: string,
    more: Parameters<typeof finding>[3] = {},
  ): void {
    this.findings.push(finding(ref, code, message, more));
  }

  leaveOut(
    ref: string,
    code: FindingCode,
    message: string,
    more: Parameters<typeof finding>[3] = {},
  ): undefined {
    this.#leftOut.add(ref.toLowerCase());
    this.note(ref, code, message, { ...more, LeftOut: true });
  }

  isLeftOut(ref: string): boolean {
    return this.#leftOut.has(ref.toLowerCase());
  }

  /**
   * Whether an object stays in by what all types share: its namespace stays, and the target does
   * not refuse it.
   */
  stays(ref: string, one: Shown): boolean {
    const namespace = `namespace/${textOf(one, 'Namespace')}`;
    if (this.isLeftOut(namespace)) {
      this.leaveOut(ref, 'invalid', `needs ${namespace}`);
      return false;
    }
    const refused = this.#refused.get(ref.toLowerCase());
    if (refused === undefined) return true;
    const { Message, Pointer } = refused;
    this.leaveOut(ref, 'invalid', Message, Pointer === undefined ? {} : { Pointer });
    return false;
  }

  /**
   * Returns the members of an object that are written; undefined if it has others that say
   * something, which leave it out.
   */
  members(ref: string, one: Shown, known: readonly string[]): Shown | undefined {
    const own: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(one)) {
      if (known.includes(key)) {
        if (value !== null && value !== undefined) own[key] = value;
      } else if (!ADDED.includes(key) && !mayDrop(key, value)) {
        const message = `this server has no member "${key}"`;
        return this.leaveOut(ref, 'member', message, { Pointer: `/${key}` });
      }
    }
    return own;
  }

  /**
   * Returns the links of an object as they are written: those to nothing, and to what is left out,
   * are not.
   */
  links(ref: string, one: Shown, member: string, type: 'policy' | 'role'): readonly Link[] {
    const home = ref.startsWith('namespace/') ? { Namespace: 'default' } : one;
    return listIn(one, member).flatMap((link, at): readonly Link[] => {
      const [id, name] = [textOf(link, 'ID'), textOf(link, 'Name')];
      const Pointer = `/${member}/${at}`;
      const target = this.#targets.get(targetKey(type, home, id));
      const isBuiltIn = type === 'policy' && isReservedId(id);
      if (name === '' || (target === undefined && !isBuiltIn)) {
        // A policy that is not shown may exist; if it does not, the target says so.
        if (name !== '') return [{ ID: this.idHere(id) }];
        this.note(ref, 'dangling', `links to a ${type} that is gone: ${id}`, { Pointer });
        return [];
      }
      if (name === MANAGEMENT_POLICY && textOf(home, 'Namespace') !== 'default')
        return [{ Name: name }];
      if (target === undefined || !this.isLeftOut(target)) return [{ ID: this.idHere(id) }];
      const Lost = `the rights that ${target} gives`;
      const message = `needs ${target}, which is left out: it is written without this link`;
      this.note(ref, 'invalid', message, { Pointer, Lost, Do: `see ${target}` });
      return [];
    });
  }

  /** Returns the ID that an object of the source has at the target. */
  idHere(id: string): string {
    return this.options.otherIds?.get(id.toLowerCase()) ?? id;
  }

  /** Notes what is limited to other datacenters, and so grants nothing in this one. */
  otherDatacenters(ref: string, what: string, datacenters: unknown, Pointer: string): void {
    const own = this.source.info.Datacenter;
    if (own === undefined || !Array.isArray(datacenters) || datacenters.length === 0) return;
    if (datacenters.includes(own)) return;
    const where = datacenters.slice(0, 3).map(String).join(', ');
    this.note(ref, 'other_datacenter', `${what} is limited to ${where}`, { Pointer });
  }
}

/** Objects of other editions are in the partition `default`, and have empty members. */
const mayDrop = (key: string, value: unknown): boolean =>
  (key === 'Partition' && value === 'default') || isNothing(value);

const targetKey = (type: string, home: Shown, id: unknown): string =>
  [type, home['Namespace'], id].join('\u0000');
