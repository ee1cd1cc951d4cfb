// QuickJS compiled to WebAssembly, in process: a fresh runtime and context for each run.

import { getQuickJS } from 'quickjs-emscripten';
import { tools } from '../tools.mjs';

const ENTRY = (code) => `
const api = new Proxy({}, { get: (_, tool) => async (...args) => {
  const { result, error } = JSON.parse(await __dispatch(String(tool), JSON.stringify(args)));
  if (error !== undefined) throw new Error(error);
  return result;
} });
(${code})().then((value) => JSON.stringify({ value }))`;

export async function start() {
  const quickjs = await getQuickJS();
  return {
    async run(code) {
      const runtime = quickjs.newRuntime();
      runtime.setMemoryLimit(128 << 20);
      const context = runtime.newContext();
      const open = new Set();
      try {
        const dispatch = context.newFunction('__dispatch', (toolHandle, argsHandle) => {
          const [tool, args] = [context.getString(toolHandle), JSON.parse(context.getString(argsHandle))];
          const deferred = context.newPromise();
          open.add(deferred);
          tools[tool](...args)
            .then((result) => ({ result }), (error) => ({ error: error.message }))
            .then((envelope) => {
              if (!context.alive) return;
              context.newString(JSON.stringify(envelope)).consume((text) => deferred.resolve(text));
              runtime.executePendingJobs();
            });
          return deferred.handle;
        });
        dispatch.consume((handle) => context.setProp(context.global, '__dispatch', handle));
        const promise = context.unwrapResult(context.evalCode(ENTRY(code)));
        const settled = context.resolvePromise(promise);
        runtime.executePendingJobs();
        const result = await settled;
        promise.dispose();
        return context.unwrapResult(result).consume((text) => JSON.parse(context.getString(text)).value);
      } finally {
        for (const deferred of open) deferred.dispose();
        context.dispose();
        runtime.dispose();
      }
    },
    async stop() {},
  };
}
