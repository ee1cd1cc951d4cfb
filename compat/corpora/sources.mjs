// Lists the corpora that the Web surface is compared with Node by, for `src/corpora.rs`: a line of JSON for each,
// `[api, sources]`. A source is the body of an async function.

import { readdirSync } from 'node:fs';

const folder = new URL('../../sandbox/tests/web/corpus/', import.meta.url);
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.mjs')) continue;
  const { default: sources } = await import(new URL(file, folder));
  process.stdout.write(`${JSON.stringify([file.slice(0, -'.mjs'.length), sources])}\n`);
}
