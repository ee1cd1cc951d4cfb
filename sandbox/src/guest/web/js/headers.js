// Headers (Fetch, 5.1), and MIME types as headers carry them.
(function (lib) {
  const {
    define, defineProperty, expose, illegal, isObject, need, byteString, iterate, apply, list, append, ownKeys, getOwnPropertyDescriptor, exec,
    toLowerCase, slice, indexOf, charCodeAt, sort, pairIterable, iteratorSymbol, arrayOf, TypeError,
  } = lib;

  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  lib.isToken = (text) => exec(token, text) !== null;
  const isSpace = (code) => code === 0x20 || code === 9 || code === 10 || code === 13;
  const trim = (lib.trimHttp = (text) => {
    let from = 0;
    let to = text.length;
    while (from < to && isSpace(charCodeAt(text, from))) from += 1;
    while (to > from && isSpace(charCodeAt(text, to - 1))) to -= 1;
    return slice(text, from, to);
  });
  const toName = (value) => {
    const name = byteString(value, "A header name");
    if (!lib.isToken(name)) throw new TypeError('"' + name + '" is an invalid header name.');
    return toLowerCase(name);
  };
  const toValue = (value) => {
    const text = trim(byteString(value, "A header value"));
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code === 0 || code === 10 || code === 13) throw new TypeError("A header value cannot contain NUL, CR or LF.");
    }
    return text;
  };

  // `entries` are `{key, value}` with names in lower case, in the order in which they were added. `noCors` is the guard
  // "request-no-cors". Other guards than that and "immutable" restrict nothing: names that are forbidden to pages are not
  // forbidden to programs.
  let slots;
  class Headers {
    #slots = { __proto__: null, entries: list(), immutable: false, noCors: false, sorted: undefined };
    constructor(init = undefined) {
      if (init !== undefined) fill(this.#slots, init);
    }
    static {
      slots = (headers) => {
        try {
          return headers.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isHeaders = (value) => isObject(value) && #slots in value;
    }
    append(name, value) {
      const state = slots(this);
      need(arguments.length, 2, "append' on 'Headers");
      const key = toName(name);
      const text = toValue(value);
      mutable(state);
      admit(state, key, text);
    }
    delete(name) {
      const state = slots(this);
      need(arguments.length, 1, "delete' on 'Headers");
      const key = toName(name);
      mutable(state);
      remove(state, key);
    }
    get(name) {
      const state = slots(this);
      need(arguments.length, 1, "get' on 'Headers");
      return find(state, toName(name));
    }
    getAll(name) {
      const state = slots(this);
      need(arguments.length, 1, "getAll' on 'Headers");
      if (toName(name) !== "set-cookie") throw new TypeError('getAll() can only be used with the header name "Set-Cookie".');
      return cookies(state);
    }
    getSetCookie() {
      return cookies(slots(this));
    }
    has(name) {
      const state = slots(this);
      need(arguments.length, 1, "has' on 'Headers");
      return find(state, toName(name)) !== null;
    }
    set(name, value) {
      const state = slots(this);
      need(arguments.length, 2, "set' on 'Headers");
      const key = toName(name);
      const text = toValue(value);
      mutable(state);
      if (state.noCors && !isSafelisted(key, text)) return;
      put(state, key, text);
    }
  }
  const mutable = (state) => {
    if (state.immutable) throw new TypeError("Can't modify immutable headers.");
  };
  const add = (state, key, value) => {
    append(state.entries, { __proto__: null, key, value });
    state.sorted = undefined;
  };
  // What the guard lets in.
  const admit = (state, key, value) => {
    if (state.noCors) {
      const before = find(state, key);
      if (!isSafelisted(key, before === null ? value : before + ", " + value)) return;
    }
    add(state, key, value);
  };
  // A "no-CORS-safelisted request-header".
  const isSafelisted = (key, value) => {
    if (value.length > 128) return false;
    if (key === "accept-language" || key === "content-language") return exec(/^[0-9A-Za-z *,\-.;=]*$/, value) !== null;
    if (exec(/[\x00-\x08\x0a-\x1f"():<>?@[\\\]{}\x7f]/, value) !== null) return false;
    if (key === "accept") return true;
    if (key !== "content-type") return false;
    const mime = parseMime(value);
    const essence = mime === undefined ? "" : mime.type + "/" + mime.subtype;
    return essence === "application/x-www-form-urlencoded" || essence === "multipart/form-data" || essence === "text/plain";
  };
  const remove = (state, key) => {
    const kept = list();
    for (let i = 0; i < state.entries.length; i++) if (state.entries[i].key !== key) append(kept, state.entries[i]);
    state.entries = kept;
    state.sorted = undefined;
  };
  // Replaces the first and takes away the others.
  const put = (state, key, value) => {
    const kept = list();
    let done = false;
    for (let i = 0; i < state.entries.length; i++) {
      const entry = state.entries[i];
      if (entry.key !== key) append(kept, entry);
      else if (!done) {
        done = true;
        append(kept, { __proto__: null, key, value });
      }
    }
    state.entries = kept;
    state.sorted = undefined;
    if (!done) add(state, key, value);
  };
  const find = (state, key) => {
    let found = null;
    for (let i = 0; i < state.entries.length; i++) {
      const entry = state.entries[i];
      if (entry.key === key) found = found === null ? entry.value : found + ", " + entry.value;
    }
    return found;
  };
  const cookies = (state) => {
    const found = list();
    for (let i = 0; i < state.entries.length; i++) if (state.entries[i].key === "set-cookie") append(found, state.entries[i].value);
    return arrayOf(found);
  };
  // Sorted by name and combined, cookies one by one.
  const sorted = (headers) => {
    const state = slots(headers);
    if (state.sorted !== undefined) return state.sorted;
    const ordered = list();
    for (let i = 0; i < state.entries.length; i++) append(ordered, { __proto__: null, key: state.entries[i].key, value: state.entries[i].value, at: i });
    sort(ordered, (a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.at - b.at));
    const combined = list();
    for (let i = 0; i < ordered.length; i++) {
      const entry = ordered[i];
      const last = combined.length === 0 ? undefined : combined[combined.length - 1];
      if (last !== undefined && last.key === entry.key && entry.key !== "set-cookie") last.value = last.value + ", " + entry.value;
      else append(combined, entry);
    }
    state.sorted = combined;
    return combined;
  };
  const copy = (state, headers) => {
    const { entries } = slots(headers);
    for (let i = 0; i < entries.length; i++) admit(state, entries[i].key, entries[i].value);
  };
  // `HeadersInit`: pairs, or a record. Headers are a list of pairs, which is copied unless a program gave them another
  // iterator.
  const fill = (state, init) => {
    if (!isObject(init)) throw new TypeError("Headers are made from an object or from a list of pairs.");
    const open = init[iteratorSymbol];
    if (open === ownIterator && lib.isHeaders(init)) {
      copy(state, init);
      return;
    }
    if (open !== undefined && open !== null) {
      if (typeof open !== "function") throw new TypeError("The headers are not iterable.");
      const pairs = iterate(apply(open, init, []), (pair) => lib.sequence(pair, (item) => byteString(item, "A header"), "A header pair"), "The headers");
      for (let i = 0; i < pairs.length; i++) {
        if (pairs[i].length !== 2) throw new TypeError("Each header pair must be a name and a value.");
        admit(state, toName(pairs[i][0]), toValue(pairs[i][1]));
      }
      return;
    }
    const keys = ownKeys(init);
    const record = list();
    for (let i = 0; i < keys.length; i++) {
      const described = getOwnPropertyDescriptor(init, keys[i]);
      if (described === undefined || !described.enumerable) continue;
      append(record, { __proto__: null, key: byteString(keys[i], "A header name"), value: byteString(init[keys[i]], "A header value") });
    }
    for (let i = 0; i < record.length; i++) admit(state, toName(record[i].key), toValue(record[i].value));
  };
  pairIterable(Headers, sorted);
  const ownIterator = Headers.prototype[iteratorSymbol];
  define(Headers, lib.isHeaders);
  expose("Headers", Headers);
  defineProperty(Headers, "length", { __proto__: null, value: 0 });

  lib.headerSlots = (headers) => slots(headers);
  lib.findHeader = find;
  lib.putHeader = put;
  lib.admitHeader = admit;
  lib.removeHeader = remove;
  lib.newHeaders = (init) => {
    const headers = new Headers();
    if (init !== undefined) fill(slots(headers), init);
    return headers;
  };
  // With the guard "request-no-cors" where that is said; the headers are those of an object of ours, or what a program gave.
  lib.requestHeaders = (init, isOurs, noCors) => {
    const headers = new Headers();
    const state = slots(headers);
    state.noCors = noCors;
    if (isOurs) copy(state, init);
    else if (init !== undefined) fill(state, init);
    return headers;
  };
  // With the same guard, if it is one that requests have.
  lib.copyHeaders = (headers) => lib.requestHeaders(headers, true, slots(headers).noCors);

  // MIME types: `{type, subtype, parameters: [{key, value}]}` or undefined.
  const parseMime = (lib.parseMime = (input) => {
    const text = trim(input);
    const slash = indexOf(text, "/");
    if (slash <= 0 || !lib.isToken(slice(text, 0, slash))) return undefined;
    let end = indexOf(text, ";", slash);
    if (end === -1) end = text.length;
    let to = end;
    while (to > slash && isSpace(charCodeAt(text, to - 1))) to -= 1;
    const subtype = slice(text, slash + 1, to);
    if (!lib.isToken(subtype)) return undefined;
    const mime = { __proto__: null, type: toLowerCase(slice(text, 0, slash)), subtype: toLowerCase(subtype), parameters: list() };
    let at = end;
    while (at < text.length) {
      at += 1;
      while (at < text.length && isSpace(charCodeAt(text, at))) at += 1;
      const from = at;
      while (at < text.length && text[at] !== ";" && text[at] !== "=") at += 1;
      const key = toLowerCase(slice(text, from, at));
      if (at >= text.length) break;
      if (text[at] === ";") continue;
      at += 1;
      let value = "";
      if (text[at] === '"') {
        for (at += 1; at < text.length && text[at] !== '"'; at++) {
          if (text[at] === "\\" && at + 1 < text.length) at += 1;
          value += text[at];
        }
        while (at < text.length && text[at] !== ";") at += 1;
      } else {
        const start = at;
        while (at < text.length && text[at] !== ";") at += 1;
        value = slice(text, start, at);
        while (value !== "" && isSpace(charCodeAt(value, value.length - 1))) value = slice(value, 0, -1);
        if (value === "") continue;
      }
      if (lib.isToken(key) && exec(quotable, value) !== null && parameter(mime, key) === undefined) append(mime.parameters, { __proto__: null, key, value });
    }
    return mime;
  });
  const quotable = /^[\t\x20-\x7e\x80-\xff]*$/;
  const parameter = (lib.mimeParameter = (mime, key) => {
    for (let i = 0; i < mime.parameters.length; i++) if (mime.parameters[i].key === key) return mime.parameters[i].value;
    return undefined;
  });
  lib.mimeText = (mime) => {
    let text = mime.type + "/" + mime.subtype;
    for (let i = 0; i < mime.parameters.length; i++) {
      const { key, value } = mime.parameters[i];
      let shown = value;
      if (!lib.isToken(value)) {
        shown = '"';
        for (let j = 0; j < value.length; j++) shown += value[j] === '"' || value[j] === "\\" ? "\\" + value[j] : value[j];
        shown += '"';
      }
      text += ";" + key + "=" + shown;
    }
    return text;
  };
  // The type that a list of headers names ("extract a MIME type").
  lib.contentType = (headers) => {
    const text = find(slots(headers), "content-type");
    if (text === null) return undefined;
    let charset;
    let essence;
    let chosen;
    const parts = splitList(text);
    for (let i = 0; i < parts.length; i++) {
      const mime = parseMime(parts[i]);
      if (mime === undefined || (mime.type === "*" && mime.subtype === "*")) continue;
      chosen = mime;
      const name = mime.type + "/" + mime.subtype;
      if (name !== essence) {
        charset = parameter(mime, "charset");
        essence = name;
      } else if (parameter(mime, "charset") === undefined && charset !== undefined) {
        append(mime.parameters, { __proto__: null, key: "charset", value: charset });
      }
    }
    return chosen;
  };
  // By commas outside of quotes.
  const splitList = (text) => {
    const parts = list();
    let from = 0;
    let quoted = false;
    for (let i = 0; i <= text.length; i++) {
      if (i === text.length || (text[i] === "," && !quoted)) {
        append(parts, slice(text, from, i));
        from = i + 1;
      } else if (text[i] === '"') {
        quoted = !quoted;
      } else if (text[i] === "\\" && quoted && i + 1 < text.length) {
        i += 1;
      }
    }
    return parts;
  };
});
