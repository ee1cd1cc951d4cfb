// A thin client of the dialect: the unmodified JavaScript client and the daemon's own adapter.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gate, leftovers, openSession, rejection, startDaemon } from './harness.mjs';

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

const NONE = { providers: [], connectors: [] };

/** A dispatch function over plain functions by raw name, and a note of what it was called with. */
function lend(tools) {
  const calls = [];
  const dispatch = async (namespace, tool, argsJson) => {
    calls.push([namespace, tool, argsJson]);
    try {
      return JSON.stringify({ result: await tools[`${namespace}.${tool}`](...JSON.parse(argsJson)) });
    } catch (error) {
      return JSON.stringify({ error: error.message });
    }
  };
  return { calls, dispatch };
}

/** What the daemon answers to a program without tools. */
const answerTo = (code, request) => main.codemode({ code, ...NONE, ...request }, null, null);

test('raw model output runs in every shape', async () => {
  for (const code of [
    '```js\nconst a = 40\na + 2\n```', 'async () => 42', 'async () => 42;', 'return 6 * 7', '42 // done',
    'function run() { return 42 }', 'export default async () => 42', '// plan\nasync () => { return 42 }',
    'await Promise.resolve(42)', '\ufeff```typescript\r\nasync () => 42\r\n```\n',
  ]) {
    assert.deepEqual(await answerTo(code), { result: 42, logs: [] }, code);
  }
});

test('tools are found by their identifiers and called by their raw names', async () => {
  const { calls, dispatch } = lend({
    'gh.list-issues': ({ page }) => [page], 'gh.delete': (...args) => args.length, 'gh.2fa check': () => undefined,
  });
  const code = `const found = [await gh.list_issues({ page: 3 }), await gh.delete_(1, 2), await gh._2fa_check()];
    for (const name of ['list-issues', 'delete', 'toString']) {
      try { await gh[name]() } catch (error) { found.push(error.message) }
    }
    found`;
  const request = { code, providers: [{ name: 'gh', tools: ['list-issues', 'delete', '2fa check'] }] };
  const { result } = await main.codemode(request, dispatch, null);
  const missing = ['list-issues', 'delete', 'toString'].map((name) => `Tool "${name}" not found`);
  assert.deepEqual(result, [[3], 2, undefined, ...missing]);
  assert.deepEqual(calls, [['gh', 'list-issues', '[{"page":3}]'], ['gh', 'delete', '[1,2]'], ['gh', '2fa check', '[]']]);
});

test('a connector gets the first argument, and its decisions are read here', async () => {
  const { calls, dispatch } = lend({
    'mail.send': (...args) => args, 'mail.hold': () => ({ __codemode_control__: 'pause' }),
    'mail.fail': () => ({ __codemode_control__: 'error', message: 'quota' }),
  });
  const code = `const found = [await mail.send({ to: 1 }, 2), await mail.send()];
    for (const name of ['hold', 'fail']) { try { await mail[name]() } catch (error) { found.push(error.message) } }
    found`;
  const { result } = await main.codemode({ code, providers: [], connectors: ['mail'] }, dispatch, null);
  assert.deepEqual(result, [[{ to: 1 }], [], '__CODEMODE_PAUSE__', 'quota']);
  assert.equal(calls.length, 4);
});

test('binary values cross in both directions', async () => {
  const { dispatch } = lend({ 'io.echo': (value) => value });
  const code = 'const bytes = await io.echo(new Uint8Array([0, 255])); [bytes.constructor.name, ...bytes]';
  const { result } = await main.codemode({ code, providers: [{ name: 'io', tools: ['echo'] }] }, dispatch, null);
  assert.deepEqual(result, ['Uint8Array', 0, 255]);
});

test('a program that fails is an answer with its lines', async () => {
  const code = `console.log('a', { b: 1 }); console.info('not captured'); console.warn('c'); console.error('d'); throw new TypeError('bad')`;
  assert.deepEqual(await answerTo(code), {
    error: 'bad', logs: ['a [object Object]', '[warn] c', '[error] d'],
  });
  const broken = await answerTo('const = 1');
  assert.match(broken.error, /^SyntaxError/);
  assert.deepEqual(Object.keys(broken), ['error', 'logs']);
});

test('a run that is out of time reads as it does in the dialect, also when it waits for a tool', async () => {
  const wait = () => new Promise(() => {});
  const providers = [{ name: 'api', tools: ['wait'] }];
  for (const code of ['for (;;) {}', 'await api.wait()', 'await new Promise(() => {})']) {
    const answer = await main.codemode({ code, providers, timeout: 300 }, wait, null);
    assert.deepEqual(answer, { error: 'Execution timed out', logs: [] }, code);
  }
  assert.deepEqual(await answerTo('for (;;) {}', { timeout: 0 }), { error: 'Execution timed out', logs: [] });
});

test('names are refused in the words of the dialect', async () => {
  for (const [providers, connectors, error] of [
    [[{ name: '__logs', tools: [] }], [], 'Provider name "__logs" is reserved'],
    [[{ name: 'a-b', tools: [] }], [], 'Provider name "a-b" is not a valid JavaScript identifier'],
    [[], ['a', 'a'], 'Duplicate name "a" (connector clashes with provider)'],
    [[{ name: 'a', tools: ['x-y', 'x y'] }], [], 'Tool names "x-y" and "x y" both sanitize to "x_y" in provider "a"'],
  ]) {
    assert.deepEqual(await main.codemode({ code: '1', providers, connectors }, null, null), { error });
  }
});

test('preludes, accessors, modules and requests are those of the caller', async () => {
  const { dispatch } = lend({ 'api.add': (a, b) => a + b });
  const providers = [
    { name: 'api', tools: ['add'], prelude: 'api.two = 2' },
    { name: 'own', tools: [], proxySource: '(call) => ({ shout: (x) => x + "!" })' },
  ];
  const code = `import { three } from 'lib'\nconst answer = await fetch('https://example.com/x');
    [await api.add(api.two, three), own.shout('hey'), answer.status, await answer.text()]`;
  const outbound = ({ url }) => ({ status: 201, body: new TextEncoder().encode(url) });
  const request = { code, providers, modules: { lib: 'export const three = 3' }, outbound: 'stub' };
  const { result, error } = await main.codemode(request, dispatch, outbound);
  assert.equal(error, undefined);
  assert.deepEqual(result, [5, 'hey!', 201, 'https://example.com/x']);
});

test('the result keeps its kinds, or travels as text', async () => {
  const { result } = await answerTo('({ date: new Date(5), big: 2n, f() {}, none: undefined })');
  assert.ok(result.date instanceof Date && result.big === 2n && 'none' in result);
  assert.ok(!('f' in result), 'functions vanish, as in the dialect');
  assert.deepEqual(await answerTo('[1, undefined]', { resultEncoding: 'text' }), { resultText: '[[1,["undefined"]]]', logs: [] });
});

test('a member of the wrong type rejects with a code, and names itself', async () => {
  for (const [request, field] of [
    [null, 'request'], [{}, 'code'], [{ code: 1 }, 'code'], [{ code: '1', providers: {} }, 'providers'],
    [{ code: '1', providers: [{ name: 'a', tools: [null] }] }, 'providers[0].tools[0]'],
    [{ code: '1', connectors: [{}] }, 'connectors[0]'], [{ code: '1', timeout: -5 }, 'timeout'],
    [{ code: '1', id: '7' }, 'id'], [{ code: '1', modules: [] }, 'modules'], [{ code: '1', outbound: 'open' }, 'outbound'],
    [{ code: 'x'.repeat((1 << 20) + 1) }, 'code'],
    [{ code: '1', providers: [{ name: 'a', tools: Array.from({ length: 20_001 }, (_, n) => `t${n}`) }] }, 'providers'],
  ]) {
    const error = await rejection(main.codemode(request, null, null));
    assert.equal(error.code, 'INVALID_REQUEST', error.message);
    assert.ok(error.message.startsWith(`${field}:`), error.message);
  }
});

test('programs that are large, deep or broken cost the daemon no more than themselves', async () => {
  for (const piece of ['(', '[', '{', '`${', 'a=>', '/*', '"', '```js\n', 'import x from "y";\n', 'export default ', '-', '😀', '\\u']) {
    const code = piece.repeat(Math.floor(1_000_000 / new TextEncoder().encode(piece).length));
    assert.equal(typeof (await answerTo(code, { timeout: 5000 })), 'object', piece);
  }
  assert.deepEqual(await answerTo('42'), { result: 42, logs: [] });
});

test('a run is cancelled by its id and by disposing of its promise', async () => {
  for (const how of ['id', 'dispose']) {
    const started = gate();
    const id = crypto.randomUUID();
    const request = { code: 'await api.wait()', providers: [{ name: 'api', tools: ['wait'] }], id };
    const running = main.codemode(request, () => { started.arrive(); return new Promise(() => {}); }, null);
    const settled = running.then(() => {}, (error) => error);
    await started.arrived;
    if (how === 'id') {
      assert.equal(await main.cancel(id), true);
      assert.equal((await settled).code, 'CANCELLED');
    } else {
      running[Symbol.dispose]();
    }
    for (let live = true; live;) live = await main.cancel(id);
  }
});

test('a call that the program leaves behind is made, and what comes later is refused by the daemon', async () => {
  const arrived = gate();
  const dispatch = (_, tool) => { arrived.arrive(tool); return '{}'; };
  const request = { code: 'api.late(); "left"', providers: [{ name: 'api', tools: ['late'] }] };
  assert.equal((await main.codemode(request, dispatch, null)).result, 'left');
  assert.equal(await arrived.arrived, 'late');
});

test('nothing is left behind', async () => {
  const own = openSession(daemon.url);
  const { dispatch } = lend({ 'api.echo': (x) => x });
  const codemode = (code, request) => own.main.codemode({ code, providers: [{ name: 'api', tools: ['echo'] }], ...request }, dispatch, null);
  await own.main.protocolVersion();
  await Promise.all([
    codemode('await Promise.all([api.echo(1), api.echo(2)])'),
    codemode('await api.nope()'),
    codemode('1', { connectors: ['api'] }),
    codemode('for (;;) {}', { timeout: 100 }),
    rejection(codemode(1)),
  ]);
  await own.main.protocolVersion();
  assert.deepEqual(leftovers(own.frames), {});
  const { session: held } = await own.main.info();
  assert.deepEqual(held, { calls: 0, imports: 0, exports: 0, peerCalls: 1, running: 1 });
  own.close();
});
