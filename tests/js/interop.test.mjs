// The unmodified JavaScript client uses everything that the daemon offers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dispatchOf, leftovers, openSession, rejection, startDaemon } from './harness.mjs';

let daemon;
let session;
let main;

before(async () => {
  daemon = await startDaemon();
  session = openSession(daemon.url);
  main = session.main;
});

after(async () => {
  session.close();
  await daemon.stop();
});

const PROVIDERS = [{ name: 'api', tools: [] }];

async function run(code, dispatch = null, request = {}) {
  const providers = dispatch ? PROVIDERS : [];
  return await main.execute({ code, providers, ...request }, dispatch, null);
}

async function resultOf(code, dispatch, request) {
  const outcome = await run(code, dispatch, request);
  assert.equal(outcome.error, undefined);
  assert.equal(outcome.termination, 'completed');
  return outcome.result;
}

test('the version and what the server is can be read', async () => {
  assert.equal(await main.protocolVersion(), 1);
  const info = await main.info();
  assert.equal(info.protocolVersion, 1);
  assert.equal(info.server, 'codemoded');
  assert.equal(info.limits.timeout, 60_000);
  assert.ok(Array.isArray(info.confinement));
  assert.deepEqual(info.features, ['modules', 'handles', 'outbound', 'codemode', 'leases', 'authenticate']);
  // What a budget left to the machine comes to is told, not that it was left to it.
  assert.ok(info.limits.memoryBudget >= 1 << 20);
});

test('values of every kind arrive as what they were', async () => {
  const result = await resultOf(`async () => ({
    date: new Date(1700000000000), invalid: new Date(NaN), bytes: new Uint8Array([1, 2, 3]),
    floats: new Float32Array([0.5, -2]), buffer: new Uint8Array([9, 8]).buffer,
    big: 2n ** 70n, nothing: undefined, nil: null, nan: NaN, infinite: -Infinity, text: 'ä\\ud800',
    holes: [1, , 3], error: new RangeError('too far'), nested: [[[]], {}], map: new Map([[1, 2]]),
  })`);
  assert.ok(result.date instanceof Date);
  assert.equal(result.date.getTime(), 1700000000000);
  assert.ok(Number.isNaN(result.invalid.getTime()));
  assert.ok(result.bytes instanceof Uint8Array);
  assert.deepEqual([...result.bytes], [1, 2, 3]);
  assert.ok(result.floats instanceof Float32Array);
  assert.deepEqual([...result.floats], [0.5, -2]);
  assert.ok(result.buffer instanceof ArrayBuffer);
  assert.equal(result.big, 2n ** 70n);
  assert.ok('nothing' in result && result.nothing === undefined);
  assert.equal(result.nil, null);
  assert.ok(Number.isNaN(result.nan));
  assert.equal(result.infinite, -Infinity);
  assert.equal(result.text, 'ä\ud800');
  assert.deepEqual(result.holes, [1, undefined, 3]);
  assert.ok(result.error instanceof RangeError);
  assert.equal(result.error.message, 'too far');
  assert.deepEqual(result.nested, [[[]], {}]);
  assert.deepEqual(result.map, {});
});

test('an undefined result is there and undefined', async () => {
  const outcome = await run('async () => {}');
  assert.equal(outcome.termination, 'completed');
  assert.ok('result' in outcome && outcome.result === undefined);
});

test('a result can travel as text', async () => {
  const outcome = await run('async () => [1, undefined]', null, { resultEncoding: 'text' });
  assert.equal(outcome.resultText, '[[1,["undefined"]]]');
  assert.ok(!('result' in outcome));
});

test('tools called in sequence answer in sequence', async () => {
  const seen = [];
  const dispatch = dispatchOf({ api: { next: (n) => { seen.push(n); return n + 1; } } });
  const result = await resultOf('async () => { let n = 0; for (let i = 0; i < 10; i++) n = await api.next(n); return n }', dispatch);
  assert.equal(result, 10);
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('tools called at once run at once and may answer in any order', async () => {
  const waiting = [];
  const dispatch = dispatchOf({
    api: {
      // Nobody answers before all ten calls have arrived; then the last is answered first.
      late: (n) => new Promise((resolve) => {
        waiting.push(() => resolve(n * n));
        if (waiting.length === 10) for (const answer of waiting.reverse()) answer();
      }),
    },
  });
  const result = await resultOf('async () => Promise.all(Array.from({ length: 10 }, (_, n) => api.late(n)))', dispatch);
  assert.deepEqual(result, [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]);
});

test('a failing tool rejects its call with its message, and the program goes on', async () => {
  const dispatch = dispatchOf({ api: { fail: () => { throw new Error('no such city'); } } });
  const code = `async () => {
    const caught = [];
    for (const call of [() => api.fail(), () => api.missing()]) {
      try { await call() } catch (error) { caught.push([error instanceof Error, error.message]) }
    }
    return caught;
  }`;
  assert.deepEqual(await resultOf(code, dispatch), [[true, 'no such city'], [true, 'Tool "missing" not found']]);
});

test('a dispatch function that rejects is a tool error with its message', async () => {
  const dispatch = async () => { throw new TypeError('the gateway said no'); };
  const code = 'async () => { try { await api.any() } catch (error) { return error.message } }';
  assert.equal(await resultOf(code, dispatch), 'the gateway said no');
});

test('without tools every call says that there is none', async () => {
  const outcome = await main.execute({ code: 'async () => await api.any()', providers: PROVIDERS }, null, null);
  assert.equal(outcome.termination, 'threw');
  assert.equal(outcome.error, 'Tool "any" not found');
});

test('a program that throws is an outcome with its logs', async () => {
  const outcome = await run(`async () => { console.log('before', 1); console.warn('careful'); throw new TypeError('bad') }`);
  assert.equal(outcome.termination, 'threw');
  assert.equal(outcome.error, 'bad');
  assert.equal(outcome.errorDetails.name, 'TypeError');
  assert.deepEqual(outcome.logs.map(({ level, method, message }) => [level, method, message]), [
    ['log', 'log', 'before 1'],
    ['warn', 'warn', 'careful'],
  ]);
});

test('a request that breaks a rule is rejected with a code and the name of the field', async () => {
  const cases = [
    [{}, 'code'],
    [{ code: 1 }, 'code'],
    [{ code: 'async () => 1', timeout: 0 }, 'timeout'],
    [{ code: 'async () => 1', timeout: 'soon' }, 'timeout'],
    [{ code: 'async () => 1', id: 'not a uuid' }, 'id'],
    [{ code: 'async () => 1', resultEncoding: 'xml' }, 'resultEncoding'],
    [{ code: 'async () => 1', providers: [{ name: 'class', tools: [] }] }, 'providers[0].name'],
    [{ code: 'async () => 1', providers: [{ name: 'a-b', tools: [] }] }, 'providers[0].name'],
  ];
  for (const [request, field] of cases) {
    const error = await rejection(main.execute(request, null, null));
    assert.ok(error instanceof Error);
    assert.equal(error.code, 'INVALID_REQUEST', error.message);
    assert.equal(error.retryable, false);
    assert.ok(error.message.startsWith(field), error.message);
  }
});

test('where nobody needs a token, every token gets the executor', async () => {
  const executor = await main.authenticate('any');
  assert.equal(await executor.protocolVersion(), 1);
  executor[Symbol.dispose]();
});

test('a function in a result is a handle that is called later', async () => {
  const code = 'async () => { let n = 0; return { add: async (by) => { n += by; return await api.shout(String(n)) } } }';
  const request = { code, providers: [{ name: 'api', tools: ['shout'] }], retainHandles: true };
  const outcome = await main.execute(request, () => '{}', null);
  const { executionId, result } = outcome;
  const handle = result.add.__codemode_handle__;
  const shout = (provider, tool, args) => JSON.stringify({ result: `${JSON.parse(args)[0]}!` });
  assert.equal((await main.invokeHandle(executionId, handle, '[2]', shout, null, {})).result, '2!');
  assert.equal((await main.invokeHandle(executionId, handle, '[3]', shout, null, { timeout: 1000 })).result, '5!');
  assert.equal(await main.closeHandles(executionId), undefined);
  const error = await rejection(main.invokeHandle(executionId, handle, '[1]', shout, null, {}));
  assert.equal(error.code, 'HANDLE_NOT_FOUND');
});

test('a method that does not exist rejects that call alone', async () => {
  const error = await rejection(main.noSuchMethod());
  assert.ok(error instanceof TypeError);
  assert.equal(await resultOf('async () => 42'), 42);
});

test('a run can be cancelled by its id, and whoever awaits it is told', async () => {
  const id = crypto.randomUUID();
  let called;
  const started = new Promise((resolve) => { called = resolve; });
  const dispatch = dispatchOf({ api: { wait: () => { called(); return new Promise(() => {}); } } });
  const running = rejection(run('async () => await api.wait()', dispatch, { id }));
  await started;
  assert.equal(await main.cancel(id), true);
  assert.equal((await running).code, 'CANCELLED');
  assert.equal(await main.cancel(id), false);
});

test('a run whose promise is disposed is cancelled', async () => {
  const id = crypto.randomUUID();
  let called;
  const started = new Promise((resolve) => { called = resolve; });
  const dispatch = dispatchOf({ api: { wait: () => { called(); return new Promise(() => {}); } } });
  const running = main.execute({ code: 'async () => await api.wait()', providers: PROVIDERS, id }, dispatch, null);
  running.then(() => {}, () => {});
  await started;
  running[Symbol.dispose]();
  // Frames are taken in order, so the release was there before this call; the run may take a moment to end.
  for (let live = true; live;) live = await main.cancel(id);
});

test('calls can be pipelined on the result of a call', async () => {
  const echoed = await main.execute({ code: 'async () => ({ inner: { value: 7 } })', providers: [] }, null, null).result.inner.value;
  assert.equal(echoed, 7);
});

test('many runs at once on one session do not mix', async () => {
  const dispatch = dispatchOf({ api: { echo: (x) => x } });
  const runs = Array.from({ length: 40 }, (_, n) => resultOf(`async () => [${n}, await api.echo(${n})]`, dispatch));
  assert.deepEqual(await Promise.all(runs), Array.from({ length: 40 }, (_, n) => [n, n]));
});

test('nothing is left behind once everything is released', async () => {
  const own = openSession(daemon.url);
  const dispatch = dispatchOf({ api: { echo: (x) => x, fail: () => { throw new Error('no'); } } });
  const execute = (code, request) => own.main.execute({ code, providers: PROVIDERS, ...request }, dispatch, null);
  await own.main.protocolVersion();
  await Promise.all([
    execute('async () => await Promise.all([api.echo(1), api.echo(2)])'),
    execute('async () => await api.fail()'),
    execute('async () => { for (;;) {} }', { timeout: 100 }),
    rejection(execute(1)),
    rejection(own.main.noSuchMethod(dispatch)),
  ]);
  // An answered call more, so that whatever was on its way has arrived.
  await own.main.protocolVersion();
  assert.deepEqual(leftovers(own.frames), {});
  // The daemon's own tables: only the call that asks is there.
  const { session } = await own.main.info();
  assert.deepEqual(session, { calls: 0, imports: 0, exports: 0, peerCalls: 1, running: 1 });
  own.close();
});
