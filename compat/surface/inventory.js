// What a program finds in its sandbox: a line for every global, its static and its prototype members, each with its kind.
// Runs on both sides; lines are compared, see src/surface.rs. A kind is what `typeof` says, `get`, `set` or `get set` for an
// accessor, and for a global function how many arguments it names.
async () => {
  const { getOwnPropertyDescriptor: describe, getPrototypeOf: parent } = Object;
  const wellKnown = new Map(
    Reflect.ownKeys(Symbol).filter((key) => typeof Symbol[key] === 'symbol').map((key) => [Symbol[key], `@@${key}`]),
  );
  // Symbols that a platform made for itself are no part of what programs use.
  const keys = (object) => Reflect.ownKeys(object).filter((key) => typeof key === 'string' || wellKnown.has(key));
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
  const found = new Map();

  const kind = (owner, key) => {
    const at = describe(owner, key);
    if ('value' in at) return typeof at.value;
    return [at.get && 'get', at.set && 'set'].filter(Boolean).join(' ') || 'undefined';
  };
  const note = (path, key, kind) => {
    found.set(path === '' ? key : typeof key === 'symbol' ? `${path}[${wellKnown.get(key)}]` : `${path}.${key}`, kind);
  };
  const OF_FUNCTIONS = ['length', 'name', 'prototype', 'arguments', 'caller'];
  const members = (path, object, without = []) => {
    for (const key of keys(object)) if (!without.includes(key)) note(path, key, kind(object, key));
  };
  // What these give to all that inherit from them is told once.
  const known = new Set([Object, Function, Error, parent(Uint8Array), Event, EventTarget].map(({ prototype }) => prototype));
  /** An object's own members and those that it inherits. */
  const inherited = (path, object) => {
    for (let at = object; at && (at === object || !known.has(at)); at = parent(at)) {
      members(path, at, at === object ? [] : ['constructor']);
    }
  };
  const constructor = (path, value) => {
    members(path, value, OF_FUNCTIONS);
    // What a scope offers is what the globals are, wherever they are kept.
    if (isObject(value.prototype) && !path.endsWith('GlobalScope')) inherited(`${path}.prototype`, value.prototype);
  };
  /** One level further into an object that is a name space of its own. */
  const inside = (path, value, globals) => {
    for (const key of keys(value)) {
      const at = describe(value, key);
      if (!('value' in at) || !isObject(at.value) || globals.has(at.value)) continue;
      const name = typeof key === 'symbol' ? null : `${path}.${key}`;
      if (name === null || Array.isArray(at.value)) continue;
      if (typeof at.value !== 'function') inherited(name, at.value);
      else if (isObject(at.value.prototype) && keys(at.value.prototype).length > 1) constructor(name, at.value);
    }
  };

  const names = new Map();
  for (let at = globalThis; at && at !== Object.prototype; at = parent(at)) {
    for (const key of keys(at)) if (typeof key === 'string' && key !== 'constructor') names.set(key, at);
  }
  const values = new Map();
  for (const name of names.keys()) {
    try {
      values.set(name, globalThis[name]);
    } catch (error) {
      found.set(name, `throws ${error.name}`);
    }
  }
  const globals = new Set([globalThis, ...values.values()].filter(isObject));
  for (const [name, value] of values) {
    if (value === globalThis) found.set(name, 'the global object');
    else if (typeof value === 'function') {
      found.set(name, `function of ${value.length}`);
      constructor(name, value);
    } else if (isObject(value)) {
      found.set(name, 'object');
      inherited(name, value);
      inside(name, value, globals);
    } else found.set(name, typeof value);
  }
  if (globalThis.crypto?.subtle) inherited('crypto.subtle', crypto.subtle);

  const unnamed = {
    '%TypedArray%': parent(Uint8Array),
    '%AsyncFunction%': (async () => {}).constructor,
    '%GeneratorFunction%': (function* () {}).constructor,
    '%AsyncGeneratorFunction%': (async function* () {}).constructor,
  };
  for (const [name, value] of Object.entries(unnamed)) constructor(name, value);
  const iterators = {
    '%ArrayIterator%': [][Symbol.iterator](),
    '%StringIterator%': ''[Symbol.iterator](),
    '%MapIterator%': new Map()[Symbol.iterator](),
    '%SetIterator%': new Set()[Symbol.iterator](),
    '%RegExpStringIterator%': ''.matchAll(/x/g),
    '%Generator%': parent((function* () {})()),
    '%AsyncGenerator%': parent((async function* () {})()),
  };
  for (const [name, value] of Object.entries(iterators)) members(name, parent(value));
  return [...found].map(([path, kind]) => `${path}: ${kind}`).sort();
}
