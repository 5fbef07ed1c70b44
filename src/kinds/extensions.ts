/** EnvoyExtensions: names, version constraints and arguments of the built-in extensions. */

import {
  always,
  boolean,
  free,
  isObject,
  list,
  type Normal,
  object,
  text,
  textLike,
} from '../languages/fields.js';
import type { Path } from './common.js';
import { type Problem, problem } from './problems.js';

const EXTENSIONS = [
  'builtin/lua',
  'builtin/aws/lambda',
  'builtin/property-override',
  'builtin/wasm',
  'builtin/ext-authz',
  'builtin/otel-access-logging',
] as const;

const CONSTRAINT = '\\s*(?:=|!=|>|<|>=|<=|~>)?\\s*v?\\d+(?:\\.\\d+)*(?:[-+~][0-9A-Za-z.+~-]*)?\\s*';
/** A list of version constraints such as `>= 1.15, < 2`. It may be empty. */
const constraints = textLike(`^(?:${CONSTRAINT}(?:,${CONSTRAINT})*)?$`);
/** Maximum number of characters of constraints. */
const CONSTRAINTS_LENGTH_MAX = 256;

const extension = object({
  Name: always(
    'The name of a built-in extension.',
    text({ values: EXTENSIONS, limits: { needed: true } }),
  ),
  Required: always(
    'Whether a proxy that cannot use the extension refuses its configuration.',
    boolean,
  ),
  Arguments: always('The arguments of the extension.', free()),
  ConsulVersion: always(
    'The server versions with which the extension is used, such as ">= 1.16".',
    constraints,
    'consul_version',
    'consulversion',
  ),
  EnvoyVersion: always(
    'The Envoy versions with which the extension is used.',
    constraints,
    'envoy_version',
    'envoyversion',
  ),
});
/** The field `EnvoyExtensions`. extensionProblems checks it. */
export const envoyExtensions = list(extension);

/** Yields the problems of the arguments. The caller prefixes the messages. */
type ArgumentRules = (args: Arguments) => Iterable<string>;

/** Checks the extensions of an entry, in their order. */
export function* extensionProblems(
  extensions: Normal<typeof envoyExtensions> | undefined,
): Iterable<Problem> {
  for (const [i, value] of (extensions ?? []).entries()) {
    const path: Path = ['EnvoyExtensions', i];
    const at = `invalid EnvoyExtensions[${i}]`;
    if (value.Name === '') {
      yield problem(`${at}: Name is required`, ...path, 'Name');
      continue;
    }
    for (const field of ['EnvoyVersion', 'ConsulVersion'] as const) {
      const given = value[field];
      if (given.length > CONSTRAINTS_LENGTH_MAX || !constraints.fits(given)) {
        yield problem(`${at}.${field}: Malformed constraint: ${given}`, ...path, field);
      }
    }
    const rules = BUILT_IN.get(value.Name);
    if (rules === undefined) {
      yield problem(
        `${at}[${value.Name}]: name ${JSON.stringify(value.Name)} is not a built-in extension; known are ${[...BUILT_IN.keys()].join(', ')}`,
        ...path,
        'Name',
      );
      continue;
    }
    for (const message of rules(new Arguments(value.Arguments ?? {}))) {
      yield problem(`${at}[${value.Name}]: ${message}`, ...path, 'Arguments');
    }
  }
}

/** The arguments of an extension. Names match in any letter case; null counts as absent. */
class Arguments {
  readonly #values = new Map<string, unknown>();

  constructor(values: Record<string, unknown>) {
    for (const [name, value] of Object.entries(values)) this.#values.set(name.toLowerCase(), value);
  }

  get(name: string): unknown {
    return this.#values.get(name.toLowerCase()) ?? undefined;
  }
  text(name: string, otherwise = ''): string {
    const value = this.get(name);
    return typeof value === 'string' && value !== '' ? value : otherwise;
  }
  has(name: string): boolean {
    return this.get(name) !== undefined;
  }
  /** Returns a member that is an object; undefined otherwise. */
  inner(name: string): Arguments | undefined {
    const value = this.get(name);
    return isObject(value) ? new Arguments(value) : undefined;
  }
  /** Returns a list of objects. A single object counts as a list of one. */
  items(name: string): Arguments[] {
    const value = this.get(name);
    const items = Array.isArray(value) ? value : [value];
    return items.filter(isObject).map((item) => new Arguments(item));
  }
}

const known = (values: readonly string[], word: string, value: string): string[] =>
  values.includes(value) ? [] : [`unexpected ${word} ${JSON.stringify(value)}`];

const lua: ArgumentRules = function* (args) {
  if (args.text('Script') === '') yield 'missing Script value';
  const proxies = ['connect-proxy', 'api-gateway'];
  yield* known(proxies, 'ProxyType', args.text('ProxyType', 'connect-proxy'));
  yield* known(['inbound', 'outbound'], 'Listener', args.text('Listener'));
};

const lambda: ArgumentRules = function* (args) {
  if (args.text('ARN') === '') yield 'ARN is required';
  const modes = ['synchronous', 'asynchronous'];
  yield* known(modes, 'InvocationMode', args.text('InvocationMode', 'synchronous'));
};

const propertyOverride: ArgumentRules = function* (args) {
  yield* known(['connect-proxy'], 'ProxyType', args.text('ProxyType', 'connect-proxy'));
  const patches = args.items('Patches');
  if (patches.length === 0) yield 'at least one patch is required';
  for (const [i, patch] of patches.entries()) {
    for (const message of patchProblems(patch)) yield `Patches[${i}]: ${message}`;
  }
};

function* patchProblems(patch: Arguments): Iterable<string> {
  const filter = patch.inner('ResourceFilter');
  if (filter === undefined) {
    yield 'field ResourceFilter is required';
  } else {
    const types = ['route', 'listener', 'cluster', 'cluster-load-assignment'];
    yield* known(types, 'ResourceType', filter.text('ResourceType'));
    yield* known(['inbound', 'outbound'], 'TrafficDirection', filter.text('TrafficDirection'));
    if (filter.items('Services').length > 0 && filter.text('TrafficDirection') !== 'outbound') {
      yield 'patch contains Services but its TrafficDirection is not "outbound"';
    }
  }
  const op = patch.text('Op');
  yield* known(['add', 'remove'], 'Op', op);
  if (patch.text('Path') === '') yield 'field Path is required';
  if (op === 'add' && !patch.has('Value')) yield 'non-nil Value is required for Op "add"';
  if (op === 'remove' && patch.has('Value')) yield 'Value must be nil for Op "remove"';
}

const wasm: ArgumentRules = function* (args) {
  yield* known(['', 'tcp', 'http'], 'Protocol', args.text('Protocol'));
  yield* known(['inbound', 'outbound'], 'ListenerType', args.text('ListenerType'));
  yield* known(['connect-proxy'], 'ProxyType', args.text('ProxyType', 'connect-proxy'));
  const code = args.inner('PluginConfig')?.inner('VmConfig')?.inner('Code');
  if (code === undefined) {
    yield 'VmConfig.Code must provide exactly one of Local or Remote data source';
    return;
  }
  if (code.has('Local') === code.has('Remote')) {
    yield 'VmConfig.Code must provide exactly one of Local or Remote data source';
  }
};

const authorization: ArgumentRules = function* (args) {
  const proxies = ['connect-proxy', 'api-gateway'];
  yield* known(proxies, 'ProxyType', args.text('ProxyType', 'connect-proxy'));
  const config = args.inner('Config');
  const services = [config?.inner('GrpcService'), config?.inner('HttpService')];
  const service = services.find((value) => value !== undefined);
  if (service === undefined || services.every((value) => value !== undefined)) {
    yield 'exactly one of GrpcService or HttpService must be set';
    return;
  }
  yield* targetProblems(service);
};

const accessLogging: ArgumentRules = function* (args) {
  const proxies = ['connect-proxy', 'api-gateway'];
  yield* known(proxies, 'ProxyType', args.text('ProxyType', 'connect-proxy'));
  yield* known(['', 'inbound', 'outbound'], 'ListenerType', args.text('ListenerType'));
  const service = args.inner('Config')?.inner('GrpcService');
  if (service === undefined) yield 'missing GrpcService value';
  else yield* targetProblems(service);
};

function* targetProblems(service: Arguments): Iterable<string> {
  const target = service.inner('Target');
  if (target === undefined || target.has('Service') === (target.text('URI') !== '')) {
    yield 'exactly one of Target.Service or Target.URI must be set';
  }
}

const BUILT_IN: ReadonlyMap<string, ArgumentRules> = new Map<
  (typeof EXTENSIONS)[number],
  ArgumentRules
>([
  ['builtin/lua', lua],
  ['builtin/aws/lambda', lambda],
  ['builtin/property-override', propertyOverride],
  ['builtin/wasm', wasm],
  ['builtin/ext-authz', authorization],
  ['builtin/otel-access-logging', accessLogging],
]);
