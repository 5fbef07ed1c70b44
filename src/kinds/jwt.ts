/** What entries demand of the JSON Web Token of a request, by the names of jwt-providers. */
import {
  ifSent,
  list,
  type Normal,
  neededText,
  nonEmpty,
  object,
  text,
} from '../languages/fields.js';
import type { Path } from './common.js';
import { type Problem, problem } from './problems.js';

const provider = object({
  Name: nonEmpty('The name of a jwt-provider.', neededText),
  VerifyClaims: nonEmpty(
    'The claims that the token must have.',
    list(
      object({
        Path: nonEmpty('The path to the claim, as a list of names.', list(text())),
        Value: nonEmpty('The value of the claim, or one of its values if it is a list.', text()),
      }),
    ),
    'verify_claims',
  ),
});

/** A token of any of the providers, with all the claims named beside it. */
export const jwtRequirement = object({
  Providers: nonEmpty('The providers, one of which must have issued the token.', list(provider)),
});
export type JwtRequirement = Normal<typeof jwtRequirement>;

/** The same for api-gateways and their routes, where a given list must not be empty. */
export const gatewayJwt = object({
  Providers: ifSent(
    'The providers, one of which must have issued the token.',
    list(provider, { min: 1 }),
  ),
});

/** Yields the names of the providers of a requirement. */
export function* providersOf(requirement: JwtRequirement | null | undefined): Iterable<string> {
  for (const { Name: name } of requirement?.Providers ?? []) if (name !== undefined) yield name;
}

/** Checks that each provider has a name. Whether it exists is a rule between entries. */
export function* providerProblems(
  requirement: JwtRequirement | null | undefined,
  ...path: Path
): Iterable<Problem> {
  for (const [i, { Name: name }] of (requirement?.Providers ?? []).entries()) {
    if (name !== undefined) continue;
    yield problem('JWT provider name is required', ...path, 'Providers', i, 'Name');
  }
}

/** Checks the requirement of a listener or a route. */
export function* gatewayJwtProblems(
  requirement: JwtRequirement | null | undefined,
  ...path: Path
): Iterable<Problem> {
  // A list without providers would demand a token and let every request pass.
  if (requirement?.Providers?.length === 0) {
    const message = 'api-gateway jwt validation is a list of one provider or more';
    yield problem(message, ...path, 'Providers');
  }
  yield* providerProblems(requirement, ...path);
}
