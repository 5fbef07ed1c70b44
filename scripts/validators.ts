/**
 * Writes the module of the checks that ajv makes from the JSON schemas. The build runs it, so that
 * no schema is compiled at the start of a node:
 *
 *     node dist/scripts/validators.js dist/src/base/validators.js
 */
import { writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { NAME_SCHEMA } from '../src/acl/template-schema.js';
import { SINKS_SCHEMA } from '../src/audit/settings.js';
import { MEMBER, type Setting } from '../src/config/setting.js';
import { SETTINGS } from '../src/config/settings.js';

type Tree = Record<string, unknown>;

const TYPES: Record<Setting['type'], Tree> = {
  text: { type: 'string', minLength: 1 },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  list: { type: 'array', items: { type: 'string', minLength: 1 } },
  members: {
    type: 'array',
    uniqueItems: true,
    items: { type: 'string', pattern: MEMBER.source },
  },
  map: { type: 'object', additionalProperties: { type: 'string' } },
  sinks: SINKS_SCHEMA,
};

/** Returns the JSON schema of the configuration file. */
function schemaOf(settings: readonly Setting[]): Tree {
  const root: Tree = { type: 'object', additionalProperties: false, properties: {} };
  for (const setting of settings) {
    const path = setting.key.split('.');
    let at = root;
    for (const part of path.slice(0, -1)) {
      const properties = at['properties'] as Tree;
      properties[part] ??= { type: 'object', additionalProperties: false, properties: {} };
      at = properties[part] as Tree;
    }
    (at['properties'] as Tree)[path.at(-1)!] = {
      ...TYPES[setting.type],
      ...(setting.min !== undefined && { minimum: setting.min }),
      ...(setting.max !== undefined && { maximum: setting.max }),
      ...(setting.choices !== undefined && { enum: setting.choices }),
      ...(setting.pattern !== undefined && { pattern: setting.pattern }),
    };
  }
  return root;
}

/** The schemas by the names of their checks. src/base/validators.d.ts declares these. */
const SCHEMAS = {
  validateSettings: schemaOf(SETTINGS),
  validateVariables: JSON.parse(NAME_SCHEMA) as object,
};

/** The checks require ajv's helpers, which a module cannot do by itself. */
const REQUIRE = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
`;

const ajv = new Ajv({ allErrors: true, code: { source: true, esm: true, lines: true } });
for (const [name, schema] of Object.entries(SCHEMAS)) ajv.addSchema(schema, name);
const names = Object.fromEntries(Object.keys(SCHEMAS).map((name) => [name, name]));
writeFileSync(process.argv[2]!, REQUIRE + standalone.default(ajv, names));
