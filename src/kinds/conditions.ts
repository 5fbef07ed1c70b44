/** The status conditions of api-gateways and their routes. */

/** A status condition. `Resource` is empty if it is about the whole entry. */
export interface Condition {
  readonly Type: string;
  readonly Status: 'True' | 'False';
  readonly Reason: string;
  readonly Message: string;
  readonly Resource: { readonly Kind: string; readonly Name: string; readonly SectionName: string };
  readonly LastTransitionTime: string;
}
/** The status that answers contain for gateways and routes. */
export interface Status {
  readonly Conditions: readonly Condition[] | null;
}
/** A condition without its time, which is that of the change that brings it. */
export type UntimedCondition = Omit<Condition, 'LastTransitionTime'>;

const WHOLE_ENTRY = { Kind: '', Name: '', SectionName: '' };
/** The end of the message about missing providers. */
export const INVALID_JWT = 'references invalid JWT Providers';

/** An entry that a listener or a route names and that does not exist. */
export type Missing = { readonly provider: string } | { readonly certificate: string };

/** Whether a gateway is accepted, by what its listeners miss. */
export function gatewayAccepted(missing: readonly Missing[]): UntimedCondition {
  if (missing.length === 0) {
    return conditionOf('Accepted', 'True', 'Accepted', 'gateway is valid');
  }
  const [reason, what] = missing.some((one) => 'provider' in one)
    ? (['InvalidJWTProviders', INVALID_JWT] as const)
    : (['InvalidCertificates', 'references invalid certificates'] as const);
  return conditionOf('Accepted', 'False', reason, `gateway ${what}`);
}

/** The condition of a listener, or of a route, that names what does not exist. */
export function unresolved(missing: Missing, at?: Condition['Resource']): UntimedCondition {
  const [reason, what] =
    'provider' in missing
      ? (['InvalidJWTProviderRef', `JWT provider ${JSON.stringify(missing.provider)}`] as const)
      : (['InvalidCertificateRef', `certificate ${JSON.stringify(missing.certificate)}`] as const);
  return conditionOf('ResolvedRefs', 'False', reason, `${what} not found`, at);
}

/** Builds a condition without its time, about the whole entry unless a resource is given. */
export const conditionOf = (
  Type: string,
  Status: 'True' | 'False',
  Reason: string,
  Message: string,
  Resource: Condition['Resource'] = WHOLE_ENTRY,
): UntimedCondition => ({ Type, Status, Reason, Message, Resource });
/** The type and the resource of a condition, which identify it. */
export const place = ({ Type, Resource }: Pick<Condition, 'Type' | 'Resource'>): string =>
  [Type, Resource.Kind, Resource.Name, Resource.SectionName].join('\u0000');
