// URLSearchParams (URL, 6.2), and application/x-www-form-urlencoded (URL, 5).
(function (lib) {
  const {
    define, defineProperty, expose, illegal, isObject, need, usv, native, iterate, sequence, apply, list, append, ownKeys, getOwnPropertyDescriptor,
    newMap, exec, split, slice, indexOf, startsWith, sort, pairIterable, iteratorSymbol, arrayOf, TypeError,
  } = lib;

  // `entries` are `{key, value}` in their order. `changed` tells the URL that they belong to, if they do.
  let slots;
  class URLSearchParams {
    #slots = { __proto__: null, entries: list(), changed: undefined };
    constructor(init = undefined) {
      if (init !== undefined) fill(this.#slots, init);
    }
    static {
      slots = (params) => {
        try {
          return params.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isURLSearchParams = (value) => isObject(value) && #slots in value;
    }
    get size() {
      return slots(this).entries.length;
    }
    append(name, value) {
      const state = slots(this);
      need(arguments.length, 2, "append' on 'URLSearchParams");
      const key = usv(name);
      add(state, key, usv(value));
      tell(state);
    }
    delete(name, value = undefined) {
      const state = slots(this);
      need(arguments.length, 1, "delete' on 'URLSearchParams");
      const key = usv(name);
      const text = value === undefined ? undefined : usv(value);
      const kept = list();
      for (let i = 0; i < state.entries.length; i++) if (!matches(state.entries[i], key, text)) append(kept, state.entries[i]);
      state.entries = kept;
      tell(state);
    }
    get(name) {
      const state = slots(this);
      need(arguments.length, 1, "get' on 'URLSearchParams");
      const at = find(state, usv(name), undefined);
      return at === -1 ? null : state.entries[at].value;
    }
    getAll(name) {
      const state = slots(this);
      need(arguments.length, 1, "getAll' on 'URLSearchParams");
      const key = usv(name);
      const found = list();
      for (let i = 0; i < state.entries.length; i++) if (state.entries[i].key === key) append(found, state.entries[i].value);
      return arrayOf(found);
    }
    has(name, value = undefined) {
      const state = slots(this);
      need(arguments.length, 1, "has' on 'URLSearchParams");
      const key = usv(name);
      return find(state, key, value === undefined ? undefined : usv(value)) !== -1;
    }
    set(name, value) {
      const state = slots(this);
      need(arguments.length, 2, "set' on 'URLSearchParams");
      const key = usv(name);
      const text = usv(value);
      const kept = list();
      let done = false;
      for (let i = 0; i < state.entries.length; i++) {
        const entry = state.entries[i];
        if (entry.key !== key) append(kept, entry);
        else if (!done) {
          done = true;
          append(kept, { __proto__: null, key, value: text });
        }
      }
      state.entries = kept;
      if (!done) add(state, key, text);
      tell(state);
    }
    sort() {
      const state = slots(this);
      // By code units; the engine's sort keeps the order of equals.
      sort(state.entries, (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      tell(state);
    }
    toString() {
      return write(slots(this).entries);
    }
  }
  const add = (state, key, value) => append(state.entries, { __proto__: null, key, value });
  const tell = (state) => {
    if (state.changed !== undefined) state.changed();
  };
  const matches = (entry, key, value) => entry.key === key && (value === undefined || entry.value === value);
  const find = (state, key, value) => {
    for (let i = 0; i < state.entries.length; i++) if (matches(state.entries[i], key, value)) return i;
    return -1;
  };
  // Pairs, or a record, or a query with or without its question mark. Everything is converted before anything is added.
  const fill = (state, init) => {
    if (!isObject(init)) {
      const text = usv(init);
      state.entries = read(startsWith(text, "?") ? slice(text, 1) : text);
      return;
    }
    const open = init[iteratorSymbol];
    if (open !== undefined && open !== null) {
      if (typeof open !== "function") throw new TypeError("The query parameters are not iterable.");
      const pairs = iterate(apply(open, init, []), (pair) => sequence(pair, usv, "A query parameter"), "The query parameters");
      for (let i = 0; i < pairs.length; i++) {
        if (pairs[i].length !== 2) throw new TypeError("Each query parameter must be a name and a value.");
        add(state, pairs[i][0], pairs[i][1]);
      }
      return;
    }
    const keys = ownKeys(init);
    const entries = list();
    // Names that differ only in lone surrogates are one.
    const known = newMap();
    for (let i = 0; i < keys.length; i++) {
      const described = getOwnPropertyDescriptor(init, keys[i]);
      if (described === undefined || !described.enumerable) continue;
      const key = usv(keys[i]);
      const value = usv(init[keys[i]]);
      const entry = known.get(key);
      if (entry !== undefined) {
        entry.value = value;
        continue;
      }
      const made = { __proto__: null, key, value };
      known.set(key, made);
      append(entries, made);
    }
    state.entries = entries;
  };
  pairIterable(URLSearchParams, (params) => slots(params).entries);
  define(URLSearchParams, lib.isURLSearchParams);
  expose("URLSearchParams", URLSearchParams);
  defineProperty(URLSearchParams, "length", { __proto__: null, value: 0 });

  // Most names and values mean what they say; only the others are worth a native's call.
  const decode = (text) => (indexOf(text, "%") === -1 && indexOf(text, "+") === -1 ? text : native.formDecode(text));
  const unreserved = /^[A-Za-z0-9*\-._]*$/;
  const encode = (text) => (exec(unreserved, text) === null ? native.formEncode(text) : text);
  const read = (lib.parseUrlencoded = (text) => {
    const entries = list();
    const parts = split(text, "&");
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      if (part === "") continue;
      const equals = indexOf(part, "=");
      const key = equals === -1 ? part : slice(part, 0, equals);
      append(entries, { __proto__: null, key: decode(key), value: equals === -1 ? "" : decode(slice(part, equals + 1)) });
    }
    return entries;
  });
  const write = (entries) => {
    let text = "";
    for (let i = 0; i < entries.length; i++) {
      if (i > 0) text += "&";
      text += encode(entries[i].key) + "=" + encode(entries[i].value);
    }
    return text;
  };

  lib.searchParamsText = (params) => write(slots(params).entries);
  lib.newSearchParams = (query, changed) => {
    const params = new URLSearchParams();
    const state = slots(params);
    state.entries = read(query);
    state.changed = changed;
    return params;
  };
  lib.refillSearchParams = (params, query) => {
    slots(params).entries = read(query);
  };
});
