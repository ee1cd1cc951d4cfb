// Tools made from the catalogue's descriptions. `compat/src/tools.rs` makes the same ones; a word means one thing in both.

/** A function of the program's arguments that does what `behaviour` says. */
export function tool(behaviour) {
  const answer = typeof behaviour === 'string' ? WORDS[behaviour] : described(behaviour);
  if (!answer) throw new Error(`there is no behaviour ${JSON.stringify(behaviour)}`);
  return async (...args) => answer(args);
}

/** Functions by name. The record's own members only, whatever their names. */
export function tools(behaviours) {
  const entries = Object.entries(behaviours ?? {}).map(([name, behaviour]) => [name, tool(behaviour)]);
  return Object.fromEntries(entries);
}

const WORDS = {
  arguments: (args) => args,
  count: (args) => args.length,
  first: ([first]) => first,
  sum: (args) => args.reduce((total, term) => total + term, 0),
  describe: ([first]) => describe(first),
  never: () => new Promise(() => {}),
  undefined: () => undefined,
  null: () => null,
  bigint: () => 1n,
  nan: () => [NaN, Infinity, -0],
  date: () => new Date(0),
  function: () => () => 1,
  cycle: () => {
    const self = {};
    self.self = self;
    return self;
  },
};

function described(behaviour) {
  if ('json' in behaviour) return () => JSON.parse(behaviour.json);
  if ('bytes' in behaviour) return () => Uint8Array.from(behaviour.bytes);
  if ('bytes_in' in behaviour) return () => ({ name: behaviour.bytes_in, body: Uint8Array.of(1, 2, 3) });
  if ('text' in behaviour) return () => behaviour.text.repeat(behaviour.times ?? 1);
  if ('throws' in behaviour) return () => fail(behaviour);
  if ('throws_json' in behaviour) {
    return () => {
      throw behaviour.throws_json ? JSON.parse(behaviour.throws_json) : undefined;
    };
  }
  if ('table' in behaviour) {
    const table = JSON.parse(behaviour.table);
    return ([argument]) => {
      const key = String(argument?.[behaviour.key]);
      if (!Object.hasOwn(table, key)) throw new Error(`${behaviour.key} ${key} not found`);
      return table[key];
    };
  }
  if ('pages' in behaviour) {
    const rows = JSON.parse(behaviour.pages);
    return ([argument]) => {
      const from = argument?.cursor ?? 0;
      const next = from + behaviour.size;
      return { items: rows.slice(from, next), next_cursor: next < rows.length ? next : null };
    };
  }
  if ('fails' in behaviour) {
    const then = tool(behaviour.then);
    let calls = 0;
    return (args) => (calls++ < behaviour.fails ? fail(behaviour.with) : then(...args));
  }
  if ('delay_ms' in behaviour) {
    const then = tool(behaviour.then);
    return async (args) => {
      await new Promise((resolve) => setTimeout(resolve, behaviour.delay_ms));
      return then(...args);
    };
  }
}

function fail({ throws, name }) {
  const error = new Error(throws);
  if (name) error.name = name;
  throw error;
}

function describe(value) {
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${new Uint8Array(value)})`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${Array.from(value)})`;
  if (Array.isArray(value)) return `[${value.map(describe)}]`;
  if (value && typeof value === 'object') {
    return `{${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${describe(member)}`)}}`;
  }
  return JSON.stringify(value) ?? typeof value;
}
