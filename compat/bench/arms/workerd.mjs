// The reference executor: @cloudflare/codemode's DynamicWorkerExecutor in workerd, over keep-alive HTTP.

import { build } from 'esbuild';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { Miniflare } from 'miniflare';

export async function start() {
  const bundled = await build({
    entryPoints: [fileURLToPath(new URL('workerd-worker.mjs', import.meta.url))],
    bundle: true,
    format: 'esm',
    write: false,
    external: ['cloudflare:*', 'node:*'],
    conditions: ['workerd', 'worker', 'import'],
  });
  const server = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: bundled.outputFiles[0].text }],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    workerLoaders: { LOADER: {} },
  });
  const url = await server.ready;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  return {
    async run(code) {
      const { result, error } = JSON.parse(await post(url, agent, code));
      if (error) throw new Error(error);
      return result;
    },
    async stop() {
      agent.destroy();
      await server.dispose();
    },
  };
}

function post(url, agent, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
