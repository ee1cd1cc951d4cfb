// node measure.mjs ARM [--runs N]: runs the programs on one peer and prints its samples as one line of JSON.
//
// An arm is a module whose `start()` gives `{run(code), stop()}`; `run` is the whole round trip as its caller sees it.

import { readFileSync } from 'node:fs';

const PROGRAMS = JSON.parse(readFileSync(new URL('programs.json', import.meta.url), 'utf8'));

/** How many runs warm an arm up before anything is counted. */
const WARM_UP = 5;

/** A program gets no more of these than fit into its share of time. */
const MILLISECONDS_PER_PROGRAM = 4_000;

const [name, ...options] = process.argv.slice(2);
const runs = Number(options[options.indexOf('--runs') + 1] ?? 100);

const print = (value) => console.log(JSON.stringify(value));

let arm;
try {
  arm = await (await import(`./arms/${name}.mjs`)).start();
} catch (error) {
  print({ unavailable: String(error?.message ?? error).split('\n')[0] });
  process.exit(0);
}

const programs = {};
const refused = {};
const throughput = {};
for (const { id, code } of PROGRAMS) {
  try {
    for (let i = 0; i < WARM_UP; i++) await arm.run(code);
    const samples = [];
    const end = performance.now() + MILLISECONDS_PER_PROGRAM;
    while (samples.length < runs && performance.now() < end) {
      const start = performance.now();
      await arm.run(code);
      samples.push(performance.now() - start);
    }
    programs[id] = samples;
    if (id === 'a' || id === 'b') throughput[id] = { 1: await rate(code, 1), 8: await rate(code, 8) };
  } catch (error) {
    refused[id] = String(error?.message ?? error).split('\n')[0];
  }
}
await arm.stop();
print({ programs, refused, throughput });
process.exit(0);

async function rate(code, inFlight) {
  const count = Math.max(inFlight, runs * 2);
  let left = count;
  const start = performance.now();
  const worker = async () => {
    while (left-- > 0) await arm.run(code);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return count / ((performance.now() - start) / 1000);
}
