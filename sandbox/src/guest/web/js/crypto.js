// Crypto (Web Cryptography, section 10): random values. What else hangs on `crypto` is added by later scripts.
(function (lib) {
  const { define, expose, guard, secret, illegal, isObject, need, bytesOf, kindOf, native, arrayTag, DOMException, TypeError } = lib;

  const integers = {
    __proto__: null, Int8Array: true, Uint8Array: true, Uint8ClampedArray: true, Int16Array: true, Uint16Array: true, Int32Array: true,
    Uint32Array: true, BigInt64Array: true, BigUint64Array: true,
  };
  const MOST = 65536;

  class Crypto {
    #brand;
    constructor(token = undefined) {
      guard(token);
    }
    static {
      lib.isCrypto = (value) => isObject(value) && #brand in value;
    }
    getRandomValues(array) {
      if (!lib.isCrypto(this)) illegal();
      need(arguments.length, 1, "getRandomValues' on 'Crypto");
      const kind = kindOf(array);
      if (kind !== "view" && kind !== "dataview") {
        throw new TypeError("Failed to execute 'getRandomValues' on 'Crypto': parameter 1 is not of type 'ArrayBufferView'.");
      }
      const { buffer, offset, length } = bytesOf(array);
      if (kindOf(buffer) === "shared") throw new TypeError("Failed to execute 'getRandomValues' on 'Crypto': the view must not be of a SharedArrayBuffer.");
      if (kind === "dataview" || integers[arrayTag(array)] === undefined) {
        throw new DOMException("ArrayBufferView argument to getRandomValues() must be an integer-typed view.", "TypeMismatchError");
      }
      if (length > MOST) {
        throw new DOMException("getRandomValues() only accepts buffers of size <= 64K but provided " + length + " bytes.", "QuotaExceededError");
      }
      native.fillRandom(buffer, offset, length);
      return array;
    }
    randomUUID() {
      if (!lib.isCrypto(this)) illegal();
      return native.randomUuid();
    }
  }
  define(Crypto, lib.isCrypto);
  expose("Crypto", Crypto);
  lib.crypto = new Crypto(secret);
  expose("crypto", lib.crypto, true);
});
