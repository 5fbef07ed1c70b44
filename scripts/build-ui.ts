/**
 * Builds the web UI into a folder: `node dist/scripts/build-ui.js dist/program/ui`. Scripts, styles
 * and pictures get a hash of their content in their names, so that browsers may keep them for ever.
 * Every file is stored compressed, as nearly all browsers ask for it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';

const ASSETS = 'assets';

const page = (script: string, style: string, logo: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Conclave</title>
<link rel="icon" type="image/svg+xml" href="${logo}">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The web UI of Conclave needs JavaScript. The API is under /v1/.</noscript>
</body>
</html>
`;

/** Returns the name and the licence of every package of which the bundle holds code. */
function licences({ inputs }: Metafile): string {
  const found = Object.keys(inputs).map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path));
  const folders = new Set(found.flatMap((match) => match?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (file === undefined) throw new Error(`${name} has no licence to pass on`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8')}`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

const [folder = 'dist/program/ui'] = process.argv.slice(2);
if (existsSync(folder)) rmSync(folder, { recursive: true });
const { outputFiles, metafile } = await build({
  entryPoints: { app: 'src/ui/main.tsx' },
  outdir: join(folder, ASSETS),
  publicPath: `/ui/${ASSETS}`,
  entryNames: '[name].[hash]',
  chunkNames: '[name].[hash]',
  assetNames: '[name].[hash]',
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'file' },
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
  plugins: [
    {
      name: 'modules that the build has written',
      setup: (ui) =>
        ui.onResolve({ filter: /\/api\/objects\.js$/ }, () => ({
          path: fileURLToPath(new URL('../src/api/objects.js', import.meta.url)),
        })),
    },
  ],
});

function store(path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: constants.Z_BEST_COMPRESSION }));
}

for (const { path, contents } of outputFiles) store(path, contents);
const names = outputFiles.map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
const named = (pattern: RegExp): string => {
  const name = names.find((each) => pattern.test(each));
  if (name === undefined) throw new Error(`the build made no ${pattern.source}`);
  return `/ui/${ASSETS}/${name}`;
};
store(
  join(folder, 'index.html'),
  page(named(/^app\..*\.js$/), named(/^app\..*\.css$/), named(/^logo\..*\.svg$/)),
);
store(join(folder, ASSETS, 'licences.txt'), licences(metafile));
