// The README's client is run as it stands there.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDaemon } from './harness.mjs';

test('the example for JavaScript in the README prints what it says', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, example] = /\n```js client\n([^]*?)\n```/.exec(readme);
  const daemon = await startDaemon();
  // Beside this file, so that it finds the packages.
  const file = fileURLToPath(new URL(`readme-${process.pid}.tmp.mjs`, import.meta.url));
  try {
    assert.ok(example.includes('ws://127.0.0.1:8787'));
    await writeFile(file, example.replaceAll('ws://127.0.0.1:8787', daemon.url));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file]);
    assert.deepEqual({ stdout, stderr }, { stdout: '42\n', stderr: '' });
  } finally {
    await rm(file, { force: true });
    await daemon.stop();
  }
});
