// Writes the pages of docs/ that are made from the code; with `--check` it only tells whether they are what the code
// says now, and exits with 1 when one is not. Needs a build.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as prettier from 'prettier';
import { configReference } from './config-reference.mjs';
import { eventCatalogue } from './event-catalogue.mjs';

const PAGES = { 'configuration.md': configReference, 'events.md': eventCatalogue };
const check = process.argv.includes('--check');

for (const [name, make] of Object.entries(PAGES)) {
  const file = fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
  const options = await prettier.resolveConfig(file);
  const page = await prettier.format(await make(), { ...options, parser: 'markdown' });
  if (!check) {
    writeFileSync(file, page);
    continue;
  }
  if (readOr(file, '') === page) continue;
  console.error(`docs/${name} is not what the code says; run npm run docs and commit the result`);
  process.exitCode = 1;
}

function readOr(file, fallback) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}
