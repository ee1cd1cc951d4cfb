// Lists the corpora for `src/corpora.rs`: those of the sandbox's tests, which compare them with Node, and those that stand
// here. A line of JSON for each, `[api, sources]`; a source is the body of an async function.

import { readdirSync } from 'node:fs';

for (const folder of ['../../sandbox/tests/web/corpus/', './'].map((path) => new URL(path, import.meta.url))) {
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.mjs') || file === 'sources.mjs') continue;
    const { default: sources } = await import(new URL(file, folder));
    process.stdout.write(`${JSON.stringify([file.slice(0, -'.mjs'.length), sources])}\n`);
  }
}
