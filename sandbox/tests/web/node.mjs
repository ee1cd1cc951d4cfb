// Evaluates one corpus in Node: a line of JSON per case, `[source, outcome]`. A corpus exports a list of bodies of async
// functions, one line each.
import { readFileSync } from "node:fs";

const AsyncFunction = (async () => {}).constructor;
const folder = new URL("./", import.meta.url);
const drive = (0, eval)(readFileSync(new URL("render.js", folder), "utf8"));
const { default: sources } = await import(new URL(`corpus/${process.argv[2]}.mjs`, folder));
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
// Timers of AbortSignal.timeout do not keep Node alive.
setInterval(() => {}, 1000);
const lines = [];
for (const source of sources) {
  const stalled = new Promise((resolve) => setTimeout(resolve, 2000, "!stalled").unref());
  let program;
  try {
    program = new AsyncFunction(`"use strict"; ${source}`);
  } catch (error) {
    throw new Error(`${source}: ${error}`);
  }
  const outcome = await Promise.race([drive(program), stalled]);
  lines.push(`${JSON.stringify([source, outcome])}\n`);
}
// Only when all is written: a pipe may take it in pieces.
process.stdout.write(lines.join(""), () => process.exit(0));
