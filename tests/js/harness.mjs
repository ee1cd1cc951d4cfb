// Starts the real daemon and opens sessions to it with the unmodified client.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';

// Node 20 has no global WebSocket; the client looks for one even when it is handed a socket.
globalThis.WebSocket ??= WebSocket;
const { newWebSocketRpcSession } = await import('capnweb');

export const BINARY = process.env.CODEMODE_TEST_BIN ?? fileURLToPath(new URL('../../target/debug/codemoded', import.meta.url));

/** A daemon on a port of its own; `stop` ends it and waits. */
export async function startDaemon(...options) {
  const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => line),
    exited.then(([code, signal]) => { throw new Error(`codemoded ended before it listened: ${code ?? signal}`); }),
  ]);
  const url = /^listening on (ws:\/\/\S+)$/.exec(line)?.[1];
  if (!url) throw new Error(`codemoded printed ${JSON.stringify(line)}`);
  return {
    url,
    pid: child.pid,
    signal: (name) => child.kill(name),
    exited,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A session of the unmodified client. `frames` is what crossed, in order. */
export function openSession(url, protocols = []) {
  const socket = new WebSocket(url, protocols);
  const frames = [];
  const send = socket.send.bind(socket);
  socket.send = (text, ...rest) => {
    frames.push({ from: 'client', message: JSON.parse(text) });
    return send(text, ...rest);
  };
  socket.addEventListener('message', ({ data }) => frames.push({ from: 'server', message: JSON.parse(data) }));
  const main = newWebSocketRpcSession(socket);
  const broken = new Promise((resolve) => main.onRpcBroken(resolve));
  return { main, frames, socket, broken, close: () => main[Symbol.dispose]() };
}

/** What of a session's frames was introduced and never released, on either side. */
export function leftovers(frames) {
  const live = new Map();
  const pushed = { client: 0, server: 0 };
  const key = (owner, id) => `${owner} ${id}`;
  const other = { client: 'server', server: 'client' };
  const introduce = (owner, id) => live.set(key(owner, id), (live.get(key(owner, id)) ?? 0) + 1);
  const walk = (owner, value) => {
    if (!value || typeof value !== 'object') return;
    if (Array.isArray(value) && (value[0] === 'export' || value[0] === 'promise')) introduce(owner, value[1]);
    for (const member of Object.values(value)) walk(owner, member);
  };
  for (const { from, message } of frames) {
    const [kind, id, operand] = message;
    if (kind === 'push' || kind === 'stream') {
      // The outcome of a push lies at the side that received it.
      if (kind === 'push') introduce(other[from], ++pushed[from]);
      walk(from, id);
    } else if (kind === 'resolve' || kind === 'reject') {
      walk(from, operand);
    } else if (kind === 'release') {
      const name = key(other[from], id);
      const left = (live.get(name) ?? 0) - operand;
      if (left === 0) live.delete(name);
      else live.set(name, left);
    }
  }
  return Object.fromEntries(live);
}

/** A function whose calls can be waited for and answered from outside. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  let arrive;
  const arrived = new Promise((resolve) => { arrive = resolve; });
  return { open, opened, arrive, arrived };
}

/** A dispatch function over plain functions: `{api: {echo: (x) => x}}`. */
export function dispatchOf(providers) {
  return async (provider, tool, argsJson) => {
    const handler = Object.hasOwn(providers, provider) && Object.hasOwn(providers[provider], tool)
      ? providers[provider][tool]
      : undefined;
    if (!handler) return JSON.stringify({ error: `Tool "${tool}" not found` });
    try {
      return JSON.stringify({ result: await handler(...JSON.parse(argsJson || '[]')) });
    } catch (error) {
      return JSON.stringify({ error: error.message });
    }
  };
}

/** What a promise rejects with. */
export async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('the call should have been rejected');
}
