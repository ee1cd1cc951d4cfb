// Leases, used by the unmodified JavaScript client.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dispatchOf, leftovers, openSession, rejection, startDaemon } from './harness.mjs';

let daemon;

before(async () => {
  daemon = await startDaemon('--max-concurrent', '1', '--warm', '1', '--queue', '2');
});

after(async () => {
  await daemon.stop();
});

const program = (code) => ({ code, providers: [{ name: 'api', tools: [] }] });

test('a lease runs one program with its tools, and says how long it was waited for', async () => {
  const session = openSession(daemon.url);
  const lease = await session.main.acquire({ memoryLimit: 64 << 20 });
  assert.ok((await lease.waitMs) >= 0);
  const dispatch = dispatchOf({ api: { double: (n) => n * 2 } });
  const outcome = await lease.execute(program('async () => api.double(21)'), dispatch, null);
  assert.equal(outcome.result, 42);
  const again = await rejection(lease.execute(program('async () => 1'), null, null));
  assert.deepEqual([again.code, again.message], ['INVALID_REQUEST', 'The lease was used: it takes one program. Acquire another.']);
  lease[Symbol.dispose]();
  session.close();
});

test('a program can be sent to a lease before the lease is there', async () => {
  const session = openSession(daemon.url);
  const outcome = await session.main.acquire().execute(program('async () => 7'), null, null);
  assert.equal(outcome.result, 7);
  session.close();
});

test('a permit goes to the next one by release, by disposal and with the session', async () => {
  const session = openSession(daemon.url);
  const other = openSession(daemon.url);
  for (const end of [
    (lease) => lease.release(),
    (lease) => lease[Symbol.dispose](),
    () => session.close(),
  ]) {
    const lease = await session.main.acquire({});
    const waiting = other.main.execute(program('async () => 1'), null, null);
    await end(lease);
    assert.equal((await waiting).result, 1);
  }
  other.close();
});

test('a lease that was released runs nothing, and releasing it again is fine', async () => {
  const session = openSession(daemon.url);
  const lease = await session.main.acquire({});
  assert.equal(await lease.release(), undefined);
  assert.equal(await lease.release(), undefined);
  const refused = await rejection(lease.execute(program('async () => 1'), null, null));
  assert.equal(refused.message, 'The lease was released. Acquire another.');
  session.close();
});

test('an acquire that waits is given up by disposing of its promise, and nothing is left behind', async () => {
  const session = openSession(daemon.url);
  const held = await session.main.acquire({});
  const waiting = session.main.acquire({});
  waiting.then(() => {}, () => {});
  waiting[Symbol.dispose]();
  held[Symbol.dispose]();
  assert.equal((await session.main.execute(program('async () => 3'), null, null)).result, 3);
  assert.equal((await session.main.info()).session.running, 1, 'the call that asks');
  assert.deepEqual(leftovers(session.frames), {});
  session.close();
});

test('runs beyond the queue are refused with a hint, and are served when they heed it', async () => {
  const session = openSession(daemon.url);
  const held = await session.main.acquire({});
  const waiting = [1, 2].map((n) => session.main.execute(program(`async () => ${n}`), null, null));
  const refused = await rejection(session.main.execute(program('async () => 3'), null, null));
  assert.deepEqual([refused.code, refused.retryable], ['OVERLOADED', true]);
  assert.ok(refused.retryAfterMs >= 50 && refused.retryAfterMs <= 60_000);
  held[Symbol.dispose]();
  assert.deepEqual((await Promise.all(waiting)).map(({ result }) => result), [1, 2]);
  session.close();
});
