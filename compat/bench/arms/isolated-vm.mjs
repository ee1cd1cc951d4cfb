// V8 isolates in process: a fresh isolate for each run.

import { tools } from '../tools.mjs';

const ENTRY = (code) => `(async () => {
const api = new Proxy({}, { get: (_, tool) => async (...args) => {
  const { result, error } = JSON.parse(await __dispatch.apply(undefined, [String(tool), JSON.stringify(args)], { result: { promise: true } }));
  if (error !== undefined) throw new Error(error);
  return result;
} });
return JSON.stringify({ value: await (${code})() });
})()`;

export async function start() {
  const { default: vm } = await import('isolated-vm');
  const dispatch = new vm.Reference(async (tool, args) => {
    try {
      return JSON.stringify({ result: await tools[tool](...JSON.parse(args)) });
    } catch (error) {
      return JSON.stringify({ error: error.message });
    }
  });
  return {
    async run(code) {
      const isolate = new vm.Isolate({ memoryLimit: 128 });
      try {
        const context = await isolate.createContext();
        await context.global.set('__dispatch', dispatch);
        const text = await context.eval(ENTRY(code), { timeout: 30_000, promise: true });
        return JSON.parse(text).value;
      } finally {
        isolate.dispose();
      }
    },
    async stop() {},
  };
}
