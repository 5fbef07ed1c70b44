/** The use case that shows all rights of a token as one merged table. */
import { keys } from '../../state/keys.js';
import { deletedIndex } from '../../state/lists.js';
import { lifeKeys } from '../../state/tokens.js';
import type { ReadUseCase } from '../types.js';
import { withoutSecrets } from './secrets.js';
import { type ExplainParts, findToken, subjectOf, type Whose } from './subject.js';

/** Reads the merged rights of a token. The value is undefined if there is no such token. */
export const readEffectiveRights =
  (parts: ExplainParts, whose: Whose): ReadUseCase<string | undefined> =>
  (context) => {
    const { view } = context;
    const token = findToken(context, whose, parts.nowMs());
    const subject = token && subjectOf(parts, view, token);
    if (token === undefined || subject === undefined) {
      const { ns, accessor = '' } = whose;
      // Changes in other namespaces are not for this caller, so it does not wait for them.
      const index = deletedIndex(view, 'token', ns);
      return { value: undefined, index, keys: [keys.token(ns, accessor)] };
    }
    const { AccessorID, Namespace, ExpirationTime } = token;
    const { Rights, Truncated } = subject.explainer.table();
    const value = {
      AccessorID,
      Namespace,
      Anonymous: subject.authorizer.anonymous,
      DefaultPolicy: parts.defaultPolicy,
      ...(ExpirationTime !== undefined && { ExpirationTime }),
      Truncated,
      Rights,
    };
    const { origins } = subject;
    return {
      value: withoutSecrets(view, JSON.stringify(value)),
      index: Math.max(token.ModifyIndex, origins.index),
      keys: [keys.token(Namespace, AccessorID), ...lifeKeys(token), ...origins.keys],
    };
  };
