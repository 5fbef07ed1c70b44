/** Use cases of templated policies: built in, read and previewed, never written. */
import {
  syntheticPolicy,
  TEMPLATES,
  type Template,
  templateByName,
  variablesProblem,
} from '../acl/templates.js';
import { reject } from '../errors.js';
import { didYouMean } from '../languages/suggest.js';
import { templateVariables } from '../state/grants.js';
import type { Service } from './types.js';
import type { Write } from './writing.js';

const mayRead = (service: Service, { caller, ns, timeoutMs }: Write) =>
  service.permit(caller, timeoutMs, (authorizer) =>
    authorizer.denial('acl', 'read', undefined, ns),
  );

/** All templates by name. */
export async function listTemplates(
  service: Service,
  asked: Write,
): Promise<Readonly<Record<string, Template>>> {
  await mayRead(service, asked);
  return TEMPLATES;
}

/** One template. Throws 404. */
export async function readTemplate(
  service: Service,
  asked: Write,
  name: string,
): Promise<Template> {
  await mayRead(service, asked);
  return (
    templateByName(name) ??
    reject('not_found', `Invalid templated policy Name: ${name}${hintFor(name)}`)
  );
}

/** Throws 404 unless the caller may preview the template and it exists. */
export async function mustPreview(service: Service, asked: Write, name: string): Promise<void> {
  await mayRead(service, asked);
  if (templateByName(name) !== undefined) return;
  const quoted = JSON.stringify(name);
  reject('not_found', `templated policy ${quoted} does not exist${hintFor(name)}`);
}

/** The body of a preview. */
export const PREVIEW = templateVariables;

/** The policy that a template stands for with these variables. */
export function previewTemplate(name: string, variables: { readonly name?: string }): object {
  const problem = variablesProblem(name, variables, true);
  if (problem !== undefined) {
    const leadIn = `validation error for templated policy: ${JSON.stringify(name)}: `;
    reject('invalid', leadIn + problem, { pointer: '/Name' });
  }
  return syntheticPolicy(name, variables);
}

const hintFor = (name: string): string => didYouMean(name, Object.keys(TEMPLATES));
