#!/usr/bin/env node
// Fails unless every installed package has the version and checksum of package-lock.json, and that
// names a checksum.
import { readFileSync } from 'node:fs';

const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
const locked = packagesOf('package-lock.json');
const installed = Object.entries(packagesOf('node_modules/.package-lock.json'));
const others = installed.filter(
  ([path, { version, integrity }]) =>
    locked[path]?.version !== version ||
    locked[path].integrity === undefined ||
    locked[path].integrity !== integrity,
);
for (const [path, { version }] of others)
  console.error(`${path} ${version} is not what package-lock.json names, with a checksum`);
process.exit(others.length > 0 ? 1 : 0);
