// What a JavaScript client sees when its connection does not live.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dispatchOf, gate, openSession, startDaemon } from './harness.mjs';

const PROVIDERS = [{ name: 'api', tools: [] }];

/** A daemon and a session with one run that waits for its tool. */
async function waitingRun(...options) {
  const daemon = await startDaemon(...options);
  const session = openSession(daemon.url);
  const called = gate();
  const dispatch = dispatchOf({ api: { wait: () => { called.arrive(); return called.opened; } } });
  const running = session.main
    .execute({ code: 'async () => await api.wait()', providers: PROVIDERS }, dispatch, null)
    .then((outcome) => ({ outcome }), (error) => ({ error }));
  await called.arrived;
  return { daemon, session, running, release: called.open };
}

test('a bound or a rule of the wire that a peer breaks ends its session with a code, and no other session', async () => {
  const { daemon, session, running, release } = await waitingRun();
  try {
    const broken = [
      // More digits than any BigInt on the wire may have.
      [['push', ['bigint', '9'.repeat(20_000)]], 'LIMIT_EXCEEDED'],
      // Nothing was ever introduced under this id.
      [['pull', 4711], 'PROTOCOL_VIOLATION'],
    ];
    for (const [frame, code] of broken) {
      const other = openSession(daemon.url);
      await other.main.protocolVersion();
      other.socket.send(JSON.stringify(frame));
      const reason = await other.broken;
      assert.ok(reason instanceof Error);
      assert.equal(reason.code, code);
    }
    release('answered');
    assert.equal((await running).outcome.result, 'answered');
    session.close();
  } finally {
    await daemon.stop();
  }
});

test('a server that stops says so with a code', async () => {
  const { daemon, session, release } = await waitingRun();
  try {
    daemon.signal('SIGTERM');
    let refused;
    do {
      // The signal may take a moment to arrive; until then runs are accepted.
      refused = await session.main
        .execute({ code: 'async () => 1', providers: [] }, null, null)
        .then(() => undefined, (error) => error);
    } while (refused === undefined);
    assert.equal(refused.code, 'SHUTTING_DOWN');
    release('answered in time');
    const reason = await session.broken;
    assert.ok(reason instanceof Error);
    assert.equal(reason.code, 'SHUTTING_DOWN');
    const [code] = await daemon.exited;
    assert.equal(code, 0);
  } finally {
    await daemon.stop();
  }
});

test('a run that is under way when the server stops is answered before the end', async () => {
  const { daemon, running, release } = await waitingRun();
  try {
    daemon.signal('SIGTERM');
    release('answered in time');
    assert.equal((await running).outcome.result, 'answered in time');
    const [code] = await daemon.exited;
    assert.equal(code, 0);
  } finally {
    await daemon.stop();
  }
});

test('a server that dies rejects what was under way with an Error', async () => {
  const { daemon, session, running } = await waitingRun();
  await daemon.stop();
  const { error } = await running;
  assert.ok(error instanceof Error);
  assert.ok((await session.broken) instanceof Error);
});
