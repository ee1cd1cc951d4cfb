// Hostile programs end with a typed outcome, and a second run on the same session does not notice.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { dispatchOf, gate, openSession, startDaemon } from './harness.mjs';

const PROGRAMS = JSON.parse(readFileSync(new URL('hostile.json', import.meta.url), 'utf8'));
const PROVIDERS = [{ name: 'api', tools: [] }];

let daemon;
let session;

before(async () => {
  daemon = await startDaemon();
  session = openSession(daemon.url);
});

after(async () => {
  session.close();
  await daemon.stop();
});

for (const { name, code, termination, error, result, ...bounds } of PROGRAMS) {
  test(name, async () => {
    const { main } = session;
    const bystander = gate();
    const hold = dispatchOf({ api: { hold: async (x) => { bystander.arrive(); await bystander.opened; return x; } } });
    const inFlight = main.execute({ code: `async () => ['held', await api.hold(7)]`, providers: PROVIDERS }, hold, null);
    await bystander.arrived;

    const tools = dispatchOf({ api: { echo: (x) => x, never: () => new Promise(() => {}) } });
    const outcome = await main.execute({ code, providers: PROVIDERS, ...bounds }, tools, null);
    assert.ok(termination.includes(outcome.termination), `termination ${outcome.termination}: ${outcome.error?.slice(0, 200)}`);
    if (error === undefined) {
      assert.equal(outcome.error, undefined);
      assert.equal(outcome.result, result);
    } else {
      assert.ok(!('result' in outcome));
      assert.ok(outcome.error.startsWith(error), outcome.error.slice(0, 200));
      assert.ok(Buffer.byteLength(outcome.error) <= 64 * 1024);
    }
    assert.ok(outcome.logs.length <= 5_001);

    bystander.open();
    const second = await inFlight;
    assert.deepEqual(second.result, ['held', 7]);
  });
}
