// One column of the reference: `node serve.mjs PACKAGE`, where PACKAGE is a dependency of package.json.
//
// Speaks JSON lines: `{"id", "request"}` on standard input, `{"id", "outcome"}` or `{"id", "failed"}` on standard output,
// in whatever order executions end; the first line is `{"ready": version}`. Ends with standard input.

import { build } from 'esbuild';
import fs from 'node:fs';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Miniflare } from 'miniflare';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

const column = process.argv[2];
const { version } = JSON.parse(fs.readFileSync(here(`node_modules/${column}/package.json`), 'utf8'));
const bundled = await build({
  entryPoints: [here('worker.mjs')],
  alias: column === '@cloudflare/codemode' ? {} : { '@cloudflare/codemode': column },
  bundle: true,
  format: 'esm',
  write: false,
  external: ['cloudflare:*', 'node:*'],
  conditions: ['workerd', 'worker', 'import'],
});
const server = new Miniflare({
  workers: [
    {
      name: 'reference',
      modules: [{ type: 'ESModule', path: 'worker.mjs', contents: bundled.outputFiles[0].text }],
      compatibilityDate: '2026-04-01',
      compatibilityFlags: ['nodejs_compat'],
      workerLoaders: { LOADER: {} },
      serviceBindings: { OUTBOUND: 'outbound' },
    },
    {
      name: 'outbound',
      modules: [{ type: 'ESModule', path: 'outbound.mjs', contents: fs.readFileSync(here('outbound.mjs'), 'utf8') }],
      compatibilityDate: '2026-04-01',
    },
  ],
  // What the reference writes of errors that cross it is no part of an outcome.
  handleRuntimeStdio: () => {},
});
await server.ready;

const answer = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
answer({ ready: version });
for await (const line of readline.createInterface({ input: process.stdin })) {
  if (!line) continue;
  const { id, request } = JSON.parse(line);
  server
    .dispatchFetch('http://reference/', { method: 'POST', body: JSON.stringify(request) })
    .then((response) => response.json())
    .then((outcome) => answer({ id, outcome }))
    .catch((error) => answer({ id, failed: String(error?.cause ?? error) }));
}
await server.dispose();
