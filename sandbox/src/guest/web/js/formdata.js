// FormData (XMLHttpRequest, section 5) and the two ways in which it travels.
(function (lib) {
  const {
    define, expose, illegal, isObject, need, usv, list, append, arrayOf, pairIterable, native, split, joinList, slice, indexOf, toLowerCase, startsWith,
    arrayBuffer, arrayOffset, arrayBytes, arraySet, exec, dateNow, utf8Text, newFile, blobSlots, fileSlots, Uint8Array, TypeError, numberText,
  } = lib;

  let slots;
  class FormData {
    #entries = list();
    constructor(form = undefined) {
      if (form !== undefined) throw new TypeError("FormData is made from nothing: there are no forms here.");
    }
    static {
      slots = (data) => {
        try {
          return data.#entries;
        } catch {
          return illegal();
        }
      };
      lib.isFormData = (value) => isObject(value) && #entries in value;
      // Keeps what `keep` says of each entry.
      lib.filterForm = (data, keep) => {
        const kept = list();
        const entries = data.#entries;
        for (let i = 0; i < entries.length; i++) if (keep(entries[i], i)) append(kept, entries[i]);
        data.#entries = kept;
      };
    }
    // The entries are asked for behind every conversion: what a program converts may replace them.
    append(name, value, filename = undefined) {
      slots(this);
      need(arguments.length, 2, "append' on 'FormData");
      const entry = entryOf(name, value, filename, arguments.length);
      append(slots(this), entry);
    }
    delete(name) {
      slots(this);
      need(arguments.length, 1, "delete' on 'FormData");
      const key = usv(name);
      lib.filterForm(this, (entry) => entry.key !== key);
    }
    get(name) {
      slots(this);
      need(arguments.length, 1, "get' on 'FormData");
      const key = usv(name);
      const entries = slots(this);
      for (let i = 0; i < entries.length; i++) if (entries[i].key === key) return entries[i].value;
      return null;
    }
    getAll(name) {
      slots(this);
      need(arguments.length, 1, "getAll' on 'FormData");
      const key = usv(name);
      const entries = slots(this);
      const found = list();
      for (let i = 0; i < entries.length; i++) if (entries[i].key === key) append(found, entries[i].value);
      return arrayOf(found);
    }
    has(name) {
      slots(this);
      need(arguments.length, 1, "has' on 'FormData");
      const key = usv(name);
      const entries = slots(this);
      for (let i = 0; i < entries.length; i++) if (entries[i].key === key) return true;
      return false;
    }
    set(name, value, filename = undefined) {
      slots(this);
      need(arguments.length, 2, "set' on 'FormData");
      const entry = entryOf(name, value, filename, arguments.length);
      const entries = slots(this);
      let first = -1;
      for (let i = 0; i < entries.length && first === -1; i++) if (entries[i].key === entry.key) first = i;
      if (first === -1) {
        append(entries, entry);
        return;
      }
      entries[first] = entry;
      lib.filterForm(this, ({ key }, at) => key !== entry.key || at === first);
    }
  }
  const entryOf = (name, value, filename, given) => {
    const key = usv(name);
    if (!lib.isBlob(value)) {
      if (given > 2 && filename !== undefined) throw new TypeError("A file name needs a Blob.");
      return { __proto__: null, key, value: usv(value) };
    }
    if (filename !== undefined) return { __proto__: null, key, value: newFile(blobSlots(value), usv(filename), lib.isFile(value) ? fileSlots(value).lastModified : dateNow()) };
    return { __proto__: null, key, value: lib.isFile(value) ? value : newFile(blobSlots(value), "blob", dateNow()) };
  };
  pairIterable(FormData, (data) => slots(data));
  define(FormData, lib.isFormData);
  expose("FormData", FormData);

  // multipart/form-data. `{type, bytes}`.
  const crlf = (text) => joinList(split(joinList(split(joinList(split(text, "\r\n"), "\n"), "\r"), "\n"), "\n"), "\r\n");
  const replaced = (text, from, to) => joinList(split(text, from), to);
  const escaped = (text) => replaced(replaced(replaced(text, "\n", "%0A"), "\r", "%0D"), '"', "%22");
  lib.writeMultipart = (data) => {
    let boundary = "----formdata-";
    const random = native.randomBytes(16);
    for (let i = 0; i < 16; i++) boundary += (random[i] < 16 ? "0" : "") + numberText(random[i], 16);
    const entries = slots(data);
    const pieces = list();
    let length = 0;
    const put = (bytes) => {
      append(pieces, bytes);
      length += arrayBytes(bytes);
    };
    for (let i = 0; i < entries.length; i++) {
      const { key, value } = entries[i];
      const head = "--" + boundary + '\r\nContent-Disposition: form-data; name="' + escaped(crlf(key)) + '"';
      if (typeof value === "string") {
        put(native.utf8Encode(head + "\r\n\r\n" + crlf(value) + "\r\n"));
        continue;
      }
      const { bytes, offset, length: size, type } = blobSlots(value);
      put(native.utf8Encode(head + '; filename="' + escaped(fileSlots(value).name) + '"\r\nContent-Type: ' + (type === "" ? "application/octet-stream" : type) + "\r\n\r\n"));
      put(new Uint8Array(arrayBuffer(bytes), offset, size));
      put(native.utf8Encode("\r\n"));
    }
    put(native.utf8Encode("--" + boundary + "--\r\n"));
    const bytes = new Uint8Array(length);
    let at = 0;
    for (let i = 0; i < pieces.length; i++) {
      arraySet(bytes, pieces[i], at);
      at += arrayBytes(pieces[i]);
    }
    return { __proto__: null, type: "multipart/form-data; boundary=" + boundary, bytes };
  };

  const malformed = () => {
    throw new TypeError("The body is not well-formed multipart/form-data.");
  };
  lib.readMultipart = (bytes, boundary) => {
    const data = new FormData();
    const entries = slots(data);
    const buffer = arrayBuffer(bytes);
    const base = arrayOffset(bytes);
    const size = arrayBytes(bytes);
    const find = (text, from) => {
      const at = native.findBytes(buffer, base + from, size - from, text);
      return at === -1 ? -1 : from + at;
    };
    const textAt = (from, to) => native.decodeOnce("utf-8", false, true, buffer, base + from, to - from);
    const delimiter = "--" + boundary;
    let at = find(delimiter, 0);
    // Only line breaks may stand before the first delimiter.
    if (at === -1 || exec(/^[\r\n]*$/, textAt(0, at)) === null) malformed();
    at += delimiter.length;
    for (;;) {
      const next = textAt(at, lib.min(at + 2, size));
      if (next === "--") return data;
      if (next !== "\r\n") malformed();
      at += 2;
      let name;
      let filename;
      let type;
      for (;;) {
        const end = find("\r\n", at);
        if (end === -1) malformed();
        if (end === at) break;
        const line = textAt(at, end);
        at = end + 2;
        const colon = indexOf(line, ":");
        if (colon === -1) malformed();
        const header = toLowerCase(slice(line, 0, colon));
        const value = lib.trimHttp(slice(line, colon + 1));
        if (header === "content-disposition") {
          if (!startsWith(toLowerCase(value), "form-data")) malformed();
          name = parameter(value, "name");
          filename = parameter(value, "filename");
        } else if (header === "content-type") {
          type = value;
        }
      }
      if (name === undefined) malformed();
      at += 2;
      const end = find("\r\n" + delimiter, at);
      if (end === -1) malformed();
      if (filename === undefined) {
        append(entries, { __proto__: null, key: name, value: textOf(buffer, base + at, end - at) });
      } else {
        const content = lib.copyBytes({ buffer, offset: base + at, length: end - at });
        const state = { __proto__: null, bytes: content, offset: 0, length: end - at, type: typeOf(type ?? "text/plain") };
        append(entries, { __proto__: null, key: name, value: newFile(state, filename, dateNow()) });
      }
      at = end + 2 + delimiter.length;
    }
  };
  const textOf = (buffer, offset, length) => utf8Text({ buffer, offset, length });
  const typeOf = (type) => (exec(/^[\x20-\x7e]*$/, type) === null ? "" : toLowerCase(type));
  const parameter = (value, key) => {
    const match = exec(key === "name" ? /;\s*name="([^"]*)"/i : /;\s*filename="([^"]*)"/i, value) ?? exec(key === "name" ? /;\s*name=([^;\s]+)/i : /;\s*filename=([^;\s]+)/i, value);
    return match === null ? undefined : replaced(replaced(replaced(match[1], "%0A", "\n"), "%0D", "\r"), "%22", '"');
  };

  // application/x-www-form-urlencoded.
  lib.readUrlencoded = (bytes) => {
    const data = new FormData();
    const entries = slots(data);
    const parsed = lib.parseUrlencoded(utf8Raw(bytes));
    for (let i = 0; i < parsed.length; i++) append(entries, parsed[i]);
    return data;
  };
  const utf8Raw = (bytes) => native.decodeOnce("utf-8", false, true, arrayBuffer(bytes), arrayOffset(bytes), arrayBytes(bytes));
});
