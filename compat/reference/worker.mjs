// Runs inside workerd: one execution of the real executor per request.

import { DynamicWorkerExecutor } from '@cloudflare/codemode';
import { RpcTarget } from 'cloudflare:workers';
import { tool, tools } from './tools.mjs';

export default {
  async fetch(request, env) {
    const { code, providers, record, connectors, modules, timeout, outbound } = await request.json();
    const executor = new DynamicWorkerExecutor({
      loader: env.LOADER,
      timeout,
      modules,
      globalOutbound: outbound ? env.OUTBOUND : null,
    });
    let outcome;
    try {
      const lent = record
        ? tools(record)
        : providers.map(({ name, tools: behaviours, prelude }) => {
            // Releases before 0.4 pass a single argument unless they are told to pass all, as later ones always do.
            return { name, fns: tools(behaviours), positionalArgs: true, prelude };
          });
      const bound = connectors.map(({ name, tools: behaviours }) => ({ name, binding: new Connector(behaviours) }));
      const { result, error, logs } = await executor.execute(code, lent, { connectors: bound });
      outcome = { result, error, logs };
    } catch (error) {
      // Part of what a host sees, so it travels as an outcome of its own.
      outcome = { threw: { name: error?.name, message: error?.message ?? String(error) } };
    }
    return new Response(text(outcome), { headers: { 'content-type': 'application/json' } });
  },
};

class Connector extends RpcTarget {
  #tools;

  constructor(behaviours) {
    super();
    this.#tools = behaviours;
  }

  async callTool(name, argument) {
    if (!Object.hasOwn(this.#tools, name)) throw new Error(`the connector has no tool ${name}`);
    return tool(this.#tools[name])(argument);
  }
}

/** JSON; what JSON refuses is written in words, so that an outcome can be read all the same. */
function text(outcome) {
  try {
    return JSON.stringify(outcome, inWords);
  } catch (error) {
    return JSON.stringify({ ...outcome, result: { $unprintable: String(error.message).split('\n')[0] } });
  }
}

function inWords(_, value) {
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (typeof value === 'string' && !value.isWellFormed()) return { $utf16: value.split('').map((unit) => unit.charCodeAt(0)) };
  return value;
}
