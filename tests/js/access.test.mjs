// Tokens, as the unmodified client shows them: as a browser does by sub-protocol, and in band ahead of the answer.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import WebSocket from 'ws';
import { leftovers, openSession, startDaemon } from './harness.mjs';

const TOKEN = 'open ≠ sesame';
const PROGRAM = { code: 'async () => 42' };
let folder;
let daemon;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codemode-'));
  const file = join(folder, 'tokens');
  await writeFile(file, `alice:${createHash('sha256').update(TOKEN).digest('hex')}\n`);
  daemon = await startDaemon('--warm', '1', '--tokens', file);
});

after(async () => {
  await daemon.stop();
  await rm(folder, { recursive: true });
});

test('a sub-protocol carries the token, and the other one is answered', async () => {
  const protocols = ['codemode.v1', `bearer.${Buffer.from(TOKEN).toString('base64url')}`];
  const session = openSession(daemon.url, protocols);
  assert.equal((await session.main.execute(PROGRAM, null, null)).result, 42);
  assert.equal(session.socket.protocol, 'codemode.v1');
  session.close();
});

test('a wrong sub-protocol opens nothing', async () => {
  const socket = new WebSocket(daemon.url, ['codemode.v1', 'bearer.d3Jvbmc']);
  const [, response] = await new Promise((resolve) => socket.on('unexpected-response', (...all) => resolve(all)));
  assert.equal(response.statusCode, 401);
  response.destroy();
});

test('a program sent ahead of the answer to the token runs, and nothing is left behind', async () => {
  const session = openSession(daemon.url);
  const executor = session.main.authenticate(TOKEN);
  const outcome = await executor.execute(PROGRAM, null, null);
  assert.equal(outcome.result, 42);
  outcome[Symbol.dispose]?.();
  executor[Symbol.dispose]();
  await session.main.protocolVersion();
  assert.deepEqual(leftovers(session.frames), {});
  session.close();
});

test('without the token every method is refused with a code', async () => {
  const session = openSession(daemon.url);
  for (const method of ['execute', 'info', 'codemode', 'cancel', 'closeHandles']) {
    await assert.rejects(async () => session.main[method](PROGRAM, null, null), { code: 'UNAUTHORIZED' });
  }
  await assert.rejects(async () => session.main.authenticate('wrong').execute(PROGRAM, null, null), { code: 'UNAUTHORIZED' });
  session.close();
});
