// CompressionStream and DecompressionStream (the Compression standard).
(function (lib) {
  const { define, expose, illegal, isObject, need, enumeration, native, bufferSource, bytesOf, copyBytes, arrayBytes, transformHasRoom, settle, react, rethrow, Uint8Array, TypeError } = lib;

  const formats = ["deflate", "deflate-raw", "gzip"];
  // A chunk may become any number of pieces at once, as in the standard, up to this many bytes. From there on the next
  // is made only when somebody reads: what unpacks to more than fits anywhere costs no memory until it is asked for.
  const AT_ONCE = 1 << 20;

  // Puts everything that comes of the bytes into the readable side. They are a copy: a program runs in between.
  const pump = (codec, bytes, last, emit, state) => {
    const length = arrayBytes(bytes);
    const { promise, resolve, reject } = settle();
    let from = 0;
    let made = 0;
    const step = () => {
      for (;;) {
        const { read, bytes: piece, more, done } = native.runCodec(codec, bytes, from, last);
        from += read;
        if (piece !== undefined) {
          made += arrayBytes(piece);
          emit(piece);
        }
        if (done) return resolve(from < length ? "junk" : "done");
        if (!more) return resolve("more");
        if (made >= AT_ONCE) {
          const room = transformHasRoom(state);
          if (room !== undefined) return react(room, (hasRoom) => (hasRoom ? run() : resolve("left")), reject);
        }
      }
    };
    const run = () => {
      try {
        step();
      } catch (error) {
        reject(error);
      }
    };
    run();
    return promise;
  };
  const empty = new Uint8Array(0);
  const chunkBytes = (chunk, name) => {
    bufferSource(chunk, "A chunk of a " + name);
    return copyBytes(bytesOf(chunk));
  };

  class CompressionStream {
    #transform;
    constructor(format) {
      need(arguments.length, 1, "constructor' on 'CompressionStream");
      const codec = native.newDeflater(enumeration(format, formats, "CompressionFormat"));
      this.#transform = lib.createTransform(
        (chunk, emit, state) => pump(codec, chunkBytes(chunk, "CompressionStream"), false, emit, state),
        (emit, state) => pump(codec, empty, true, emit, state),
      );
    }
    get readable() {
      return isObject(this) && #transform in this ? this.#transform.readable.object : illegal();
    }
    get writable() {
      return isObject(this) && #transform in this ? this.#transform.writable.object : illegal();
    }
  }
  define(CompressionStream);
  expose("CompressionStream", CompressionStream);

  class DecompressionStream {
    #transform;
    constructor(format) {
      need(arguments.length, 1, "constructor' on 'DecompressionStream");
      const codec = native.newInflater(enumeration(format, formats, "CompressionFormat"));
      let reached = "more";
      this.#transform = lib.createTransform(
        (chunk, emit, state) => {
          const bytes = chunkBytes(chunk, "DecompressionStream");
          if (arrayBytes(bytes) === 0) return undefined;
          return react(pump(codec, bytes, false, emit, state), (result) => {
            reached = result;
            if (reached === "junk") throw new TypeError("There is more after the end of the compressed data.");
          }, rethrow);
        },
        () => {
          if (reached !== "done") throw new TypeError("The compressed data ended early.");
        },
      );
    }
    get readable() {
      return isObject(this) && #transform in this ? this.#transform.readable.object : illegal();
    }
    get writable() {
      return isObject(this) && #transform in this ? this.#transform.writable.object : illegal();
    }
  }
  define(DecompressionStream);
  expose("DecompressionStream", DecompressionStream);
});
