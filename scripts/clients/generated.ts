/** The files of the libraries that are written by `npm run clients`. */
import { readFileSync } from 'node:fs';
import { OPENAPI } from '../../src/api/documents.js';
import { goTexts } from './go.js';
import { modelOf } from './model.js';
import { typescriptText } from './typescript.js';

const PACKAGE = 'clients/typescript/package.json';

/** Returns the texts of the files, by their paths. */
export function generated(): Readonly<Record<string, string>> {
  const model = modelOf(JSON.parse(OPENAPI.text));
  const ofPackage = { ...JSON.parse(readFileSync(PACKAGE, 'utf8')), version: model.version };
  const ofGo = Object.entries(goTexts(model));
  return {
    [PACKAGE]: `${JSON.stringify(ofPackage, null, 2)}\n`,
    'clients/typescript/src/operations.ts': typescriptText(model),
    ...Object.fromEntries(ofGo.map(([name, text]) => [`clients/go/client/${name}`, text])),
  };
}
