/** Converts tokens: to imports, and the anonymous one to an object of a set. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { isUuid } from '../../acl/names.js';
import { ofOldForm } from '../rights/mend.js';
import { GRANTS, grantsOf, hasGoodGrants } from './acl-objects.js';
import { type Conversion, isHidden, isNothing, refOf, textOf } from './conversion.js';
import type { MovedItem, Shown, TokenImport } from './types.js';

/** A token that ends in this time is not worth moving, in milliseconds. */
const NEARLY_OVER_MS = 10_000;
const SECRET = /^[!-~]{1,256}$/;
const MEMBERS = [
  'AccessorID',
  'SecretID',
  'Description',
  ...GRANTS,
  'Local',
  'AuthMethod',
  'AuthMethodNamespace',
  'Identity',
  'ExpirationTime',
  'CreateTime',
];
/** What some releases show besides; it says what other members say. */
const SAID_TWICE = ['ExpirationTTL', 'AuthMethodMeta', 'Legacy', 'ID', 'Name'];

/** Converts the anonymous token; undefined if it is not written. */
export function anonymousOf(conversion: Conversion, one: Shown): MovedItem | undefined {
  const ref = refOf('token', one);
  if (!conversion.stays(ref, one) || !hasGoodGrants(conversion, ref, one)) return undefined;
  const own = Object.fromEntries(
    ['AccessorID', 'Description', ...GRANTS.slice(2)].flatMap((member) =>
      isNothing(one[member]) ? [] : [[member, one[member]]],
    ),
  );
  const links = grantsOf(conversion, ref, one);
  return { Type: 'token', Namespace: 'default', Object: { ...own, ...links } };
}

/** Whether a token is the anonymous one. */
export const isAnonymous = (one: Shown): boolean => one['AccessorID'] === ANONYMOUS_ACCESSOR;

/** Converts a token; undefined if it is not written. `position` names one without AccessorID. */
export function tokenOf(
  conversion: Conversion,
  one: Shown,
  position: number,
): TokenImport | undefined {
  const { options } = conversion;
  const accessor = textOf(one, 'AccessorID').toLowerCase();
  if (accessor === '' || textOf(one, 'Rules') !== '' || textOf(one, 'Type') !== '')
    return legacy(conversion, one, position);
  const ref = refOf('token', one);
  const method = textOf(one, 'AuthMethod');
  if (method !== '' && !options.loginTokens) return undefined;
  if (!conversion.stays(ref, one)) return undefined;
  const ends = textOf(one, 'ExpirationTime');
  if (ends !== '' && Date.parse(ends) <= options.now.getTime() + NEARLY_OVER_MS)
    return conversion.leaveOut(ref, 'expired', `it ends at ${ends}`);
  const home = textOf(one, 'AuthMethodNamespace') || textOf(one, 'Namespace');
  const methodRef = `auth-method/${home}/${method}`;
  if (method !== '' && conversion.isLeftOut(methodRef))
    return conversion.leaveOut(ref, 'auth_method_type', `needs ${methodRef}`, {
      Lost: 'the token of a login',
    });
  const own = conversion.members(ref, one, [...MEMBERS, ...SAID_TWICE]);
  if (own === undefined || !hasGoodGrants(conversion, ref, one)) return undefined;
  const SecretID = secretOf(conversion, ref, one, accessor);
  if (SecretID === undefined) return undefined;
  const written = MEMBERS.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  const { Identity } = own as { readonly Identity?: { readonly Subject?: string } };
  return {
    ...Object.fromEntries(written),
    // The method of it is the token's.
    ...(Identity !== undefined && { Identity: { Subject: Identity.Subject } }),
    ...grantsOf(conversion, ref, one),
    AccessorID: accessor,
    SecretID,
    Namespace: textOf(one, 'Namespace'),
  };
}

/** Returns the secret to write; undefined if the token is left out. */
function secretOf(
  conversion: Conversion,
  ref: string,
  one: Shown,
  accessor: string,
): string | undefined {
  if (!isUuid(accessor))
    return conversion.leaveOut(ref, 'invalid', 'its AccessorID is not a valid UUID');
  const shown = one['SecretID'];
  if (isHidden(shown)) {
    const made = conversion.options.newSecret?.(accessor);
    if (made !== undefined) return made;
    return conversion.leaveOut(ref, 'no_secret', 'the source does not show its SecretID');
  }
  if (SECRET.test(String(shown))) return String(shown);
  const message = 'its SecretID is not 1 to 256 printable ASCII characters without spaces';
  return conversion.leaveOut(ref, 'invalid', message, { Pointer: '/SecretID' });
}

/** Leaves out a token of the old form, and shows the policy that does the same. */
function legacy(conversion: Conversion, one: Shown, position: number): undefined {
  const accessor = textOf(one, 'AccessorID');
  // The ID of such a token is its secret, so its place in the list names it.
  const ref = accessor === '' ? `token/legacy-${position + 1}` : `token/${accessor}`;
  const rules = textOf(one, 'Rules');
  const type = textOf(one, 'Type');
  const description = textOf(one, 'Description') || textOf(one, 'Name');
  const whose = description === '' ? '' : ` of ${JSON.stringify(description)}`;
  if (rules === '' || type === 'management') {
    const does = type === 'management' ? 'global-management' : 'no policy';
    const message = `the token${whose} is of the old form: ${does} does the same`;
    return conversion.leaveOut(ref, 'legacy_token', message);
  }
  const Mended = ofOldForm(rules);
  const own = `the token${whose} has rules of its own`;
  if (Mended === undefined) {
    const Do = 'make a token with a policy that is written anew';
    return conversion.leaveOut(ref, 'legacy_token', own, { Original: rules, Do });
  }
  const message = `${own}: the policy below does the same`;
  return conversion.leaveOut(ref, 'legacy_token', message, { Original: rules, Mended });
}
