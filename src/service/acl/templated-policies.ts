/** Use cases of templated policies, which are built in: read, list and preview. */
import {
  syntheticPolicy,
  TEMPLATES,
  type Template,
  templateByName,
  variablesProblem,
} from '../../acl/templates.js';
import { reject } from '../../base/errors.js';
import { didYouMean } from '../../languages/suggest.js';
import type { Service } from '../common/types.js';
import type { Write } from '../common/writing.js';

const mayRead = (service: Service, request: Write) =>
  service.permit(request, (authorizer) => authorizer.denial('acl', 'read', undefined, request.ns));

/** Returns all templates by name. Throws ApiError 403. */
export async function listTemplates(
  service: Service,
  request: Write,
): Promise<Readonly<Record<string, Template>>> {
  await mayRead(service, request);
  return TEMPLATES;
}

/** Returns one template. Throws ApiError 403 or 404. */
export async function readTemplate(
  service: Service,
  request: Write,
  name: string,
): Promise<Template> {
  await mayRead(service, request);
  return (
    templateByName(name) ??
    reject('not_found', `Invalid templated policy Name: ${name}${hintFor(name)}`)
  );
}

/** Permits a preview. Throws ApiError 403, or 404 for a template that does not exist. */
export async function mustPreview(service: Service, request: Write, name: string): Promise<void> {
  await mayRead(service, request);
  if (templateByName(name) !== undefined) return;
  const quoted = JSON.stringify(name);
  reject('not_found', `templated policy ${quoted} does not exist${hintFor(name)}`);
}

/** Returns the policy that a template yields for these variables. Throws ApiError. */
export function previewTemplate(name: string, variables: { readonly name?: string }): object {
  const problem = variablesProblem(name, variables, true);
  if (problem !== undefined) {
    const leadIn = `validation error for templated policy: ${JSON.stringify(name)}: `;
    reject('invalid', leadIn + problem, { pointer: '/Name' });
  }
  return syntheticPolicy(name, variables);
}

const hintFor = (name: string): string => didYouMean(name, Object.keys(TEMPLATES));
