// Blob and File (File API).
(function (lib) {
  const {
    construct, define, expose, illegal, isObject, need, usv, dictionary, enumeration, clamp, sequence, list, append, bytesOf, copyBytes, native, exec, toLowerCase,
    split, joinList, arraySet, arrayBytes, resolved, promising, dateNow, utf8Text, readable, createReadable, platform, Uint8Array, TypeError, max, min,
  } = lib;

  // The bytes of a blob never change and are shared by its slices: `{bytes: Uint8Array, offset, length, type}`.
  let slots;
  class Blob {
    #slots;
    constructor(parts = undefined, options = undefined) {
      if (parts === lib.secret) {
        this.#slots = options;
        return;
      }
      const pieces = parts === undefined ? list() : sequence(parts, toPart, "The blob parts");
      const { endings = "transparent", type = "" } = dictionary(options, "options");
      const convert = enumeration(endings, ["transparent", "native"], "endings") === "native";
      this.#slots = join(pieces, convert, typeOf(lib.toText(type)));
    }
    static {
      slots = (blob) => {
        try {
          return blob.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isBlob = (value) => isObject(value) && #slots in value;
    }
    get size() {
      return slots(this).length;
    }
    get type() {
      return slots(this).type;
    }
    arrayBuffer() {
      return promising(() => {
        return resolved(lib.arrayBuffer(copyOf(slots(this))));
      });
    }
    bytes() {
      return promising(() => resolved(copyOf(slots(this))));
    }
    slice(start = 0, end = undefined, type = "") {
      const { bytes, offset, length } = slots(this);
      const place = (value) => (value < 0 ? max(length + value, 0) : min(value, length));
      const from = place(clamp(start));
      const to = end === undefined ? length : place(clamp(end));
      return new Blob(lib.secret, { __proto__: null, bytes, offset: offset + from, length: max(to - from, 0), type: typeOf(lib.toText(type)) });
    }
    stream() {
      const state = slots(this);
      let at = 0;
      return createReadable((controller) => {
        const size = min(CHUNK, state.length - at);
        if (size > 0) {
          const piece = copyOf({ bytes: state.bytes, offset: state.offset + at, length: size });
          at += size;
          readable.enqueueChunk(controller, piece);
        }
        if (at === state.length) readable.closeController(controller);
      }, () => undefined, 0).object;
    }
    text() {
      return promising(() => {
        const { bytes, offset, length } = slots(this);
        return resolved(utf8Text({ buffer: lib.arrayBuffer(bytes), offset, length }));
      });
    }
  }
  const CHUNK = 65536;
  const toPart = (value) => {
    if (isObject(value)) {
      if (lib.isBlob(value)) return slots(value);
      const place = bytesOf(value);
      if (place !== undefined) return { __proto__: null, bytes: copyBytes(place), offset: 0, length: place.length };
    }
    return usv(value);
  };
  const copyOf = ({ bytes, offset, length }) => copyBytes({ buffer: lib.arrayBuffer(bytes), offset, length });
  const typeOf = (type) => (exec(/^[\x20-\x7e]*$/, type) === null ? "" : toLowerCase(type));
  const join = (pieces, nativeEndings, type) => {
    let length = 0;
    for (let i = 0; i < pieces.length; i++) {
      if (typeof pieces[i] === "string") {
        const text = nativeEndings ? joinList(split(joinList(split(pieces[i], "\r\n"), "\n"), "\r"), "\n") : pieces[i];
        const bytes = native.utf8Encode(text);
        pieces[i] = { __proto__: null, bytes, offset: 0, length: arrayBytes(bytes) };
      }
      length += pieces[i].length;
    }
    if (pieces.length === 1) return { __proto__: null, bytes: pieces[0].bytes, offset: pieces[0].offset, length, type };
    const bytes = new Uint8Array(length);
    let at = 0;
    for (let i = 0; i < pieces.length; i++) {
      const piece = pieces[i];
      if (piece.length > 0) arraySet(bytes, new Uint8Array(lib.arrayBuffer(piece.bytes), piece.offset, piece.length), at);
      at += piece.length;
    }
    return { __proto__: null, bytes, offset: 0, length, type };
  };
  define(Blob, lib.isBlob);
  expose("Blob", Blob);
  platform[platform.length - 1].clone = (blob) => (lib.isFile(blob) ? newFile(slots(blob), fileSlots(blob).name, fileSlots(blob).lastModified) : new Blob(lib.secret, slots(blob)));
  lib.blobSlots = (blob) => slots(blob);
  // A blob over bytes that nobody else will change.
  lib.newBlob = (bytes, type) => new Blob(lib.secret, { __proto__: null, bytes, offset: 0, length: arrayBytes(bytes), type });

  let fileSlots;
  class NamedBlob extends Blob {
    #slots;
    constructor(parts, options, slots) {
      super(parts, options);
      this.#slots = slots;
    }
    static {
      fileSlots = (file) => {
        try {
          return file.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isFile = (value) => isObject(value) && #slots in value;
    }
  }
  class File extends Blob {
    constructor(parts, name, options = undefined) {
      need(arguments.length, 2, "constructor' on 'File");
      const state = { __proto__: null, name: "", lastModified: 0 };
      const file = construct(NamedBlob, [toParts(parts), options, state], new.target);
      state.name = usv(name);
      const { lastModified } = dictionary(options, "options");
      state.lastModified = lastModified === undefined ? dateNow() : toLong(lastModified);
      return file;
    }
    get name() {
      return fileSlots(this).name;
    }
    get lastModified() {
      return fileSlots(this).lastModified;
    }
  }
  const toParts = (parts) => {
    if (parts === undefined) throw new TypeError("The file parts are not iterable");
    return parts;
  };
  const toLong = (value) => {
    const number = +value;
    return number !== number || number === 1 / 0 || number === -1 / 0 ? 0 : lib.trunc(number) + 0;
  };
  const newFile = (lib.newFile = (state, name, lastModified) => construct(NamedBlob, [lib.secret, state, { __proto__: null, name, lastModified }], File));
  define(File);
  expose("File", File);
  lib.fileSlots = (file) => fileSlots(file);
});
