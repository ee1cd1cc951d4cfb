// The reference's `crypto.DigestStream`: a writable stream whose `digest` is a promise of the digest of what was written.
(function (lib) {
  const { construct, define, defineProperty, need, illegal, settle, handled, rejected, normalizeAlgorithm, cryptoHashes, native, bytesNow, bufferSource, arrayBuffer, arrayBytes, BigInt } = lib;
  const { WritableStream } = lib.global;

  let slots;
  class Digesting extends WritableStream {
    #slots;
    constructor(stream, state) {
      super(lib.secret, stream);
      stream.object = this;
      this.#slots = state;
    }
    static {
      slots = (stream) => {
        try {
          return stream.#slots;
        } catch {
          return illegal();
        }
      };
    }
  }
  class DigestStream extends WritableStream {
    constructor(algorithm) {
      need(arguments.length, 1, "constructor' on 'DigestStream");
      const { name } = normalizeAlgorithm("digest", algorithm);
      const hasher = native.newHasher(cryptoHashes[name].native, undefined);
      const state = { __proto__: null, settled: settle(), written: 0 };
      handled(state.settled.promise);
      // A failure is the stream's and the digest's.
      const attempt = (act) => {
        try {
          act();
          return undefined;
        } catch (error) {
          state.settled.reject(error);
          return rejected(error);
        }
      };
      const stream = lib.createWritable(
        (chunk) => attempt(() => {
          const bytes = typeof chunk === "string" ? native.utf8Encode(chunk) : bytesNow(bufferSource(chunk, "A chunk of a DigestStream"));
          native.updateHasher(hasher, bytes);
          state.written += arrayBytes(bytes);
        }),
        () => attempt(() => state.settled.resolve(arrayBuffer(native.finishHasher(hasher)))),
        (reason) => state.settled.reject(reason),
      );
      return construct(Digesting, [stream, state], new.target);
    }
    get digest() {
      return slots(this).settled.promise;
    }
    get bytesWritten() {
      return BigInt(slots(this).written);
    }
  }
  define(DigestStream);
  defineProperty(lib.global.Crypto.prototype, "DigestStream", { __proto__: null, value: DigestStream, writable: true, configurable: true });
});
