// `crypto`: digests, keyed digests and random values over the natives of Web cryptography.
(function (lib) {
  const {
    native, apply, construct, kindOf, isObject, bytesOf, copyBytes, arrayBytes, arrayBuffer, arrayOffset, adoptBuffer, bufferEncoding, floor,
    isInteger, toLowerCase, coded, badType, outOfRange, needString, needFunction, needInteger, needObject, Error, RangeError, TypeError,
    Uint8Array,
  } = lib;
  const { nextTick } = lib.process;

  const names = {
    __proto__: null, md5: "md5", sha1: "sha1", sha256: "sha256", sha384: "sha384", sha512: "sha512",
    "sha-1": "sha1", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512", "sha2-256": "sha256", "sha2-384": "sha384", "sha2-512": "sha512",
    "rsa-md5": "md5", "rsa-sha1": "sha1", "rsa-sha256": "sha256", "rsa-sha384": "sha384", "rsa-sha512": "sha512", "ssl3-md5": "md5", "ssl3-sha1": "sha1",
  };
  const hashOf = (algorithm) => names[toLowerCase(algorithm)];
  const invalidDigest = (algorithm) => coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest: " + algorithm);

  // The bytes of text or of a buffer, as a Uint8Array of their own.
  const bytesFrom = (value, encoding, name, expected = "of type string or an instance of Buffer, TypedArray, or DataView") => {
    if (typeof value === "string") return native.encodeText(value, encoding === undefined || encoding === "buffer" ? 0 : (bufferEncoding(encoding) ?? 0));
    const kind = kindOf(value);
    if (kind !== "view" && kind !== "dataview") throw badType(name, expected, value);
    return copyBytes(bytesOf(value));
  };
  // With a secret's types: buffers themselves are allowed.
  const secretFrom = (value, name) => {
    const kind = typeof value === "object" && value !== null ? kindOf(value) : undefined;
    if (kind === "buffer" || kind === "shared") return copyBytes(bytesOf(value));
    return bytesFrom(value, undefined, name, "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView");
  };
  // What a digest is in the encoding that was asked for; a Buffer when none was.
  const encoded = (bytes, encoding) => {
    if (encoding === undefined || encoding === null || encoding === "buffer") return adoptBuffer(bytes);
    const number = bufferEncoding(encoding);
    if (number === undefined) return adoptBuffer(bytes);
    return native.decodeBytes(number, arrayBuffer(bytes), arrayOffset(bytes), arrayBytes(bytes));
  };

  let slots;
  class Sum {
    #slots;
    constructor(hasher) {
      this.#slots = { __proto__: null, hasher, isFinal: false, last: undefined };
    }
    static {
      slots = (sum) => sum.#slots;
    }
    update(data, inputEncoding) {
      const state = slots(this);
      if (state.isFinal) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      native.updateHasher(state.hasher, bytesFrom(data, inputEncoding, "data"));
      return this;
    }
  }
  // Not with `super`, which calls what a program says is the base.
  class Hash extends Sum {
    constructor(...given) {
      return construct(Sum, given, new.target);
    }
    digest(outputEncoding) {
      const state = slots(this);
      if (state.isFinal) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      state.isFinal = true;
      return encoded(native.finishHasher(state.hasher), outputEncoding);
    }
    copy() {
      const state = slots(this);
      if (state.isFinal) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      return new Hash(native.copyHasher(state.hasher));
    }
  }
  class Hmac extends Sum {
    constructor(...given) {
      return construct(Sum, given, new.target);
    }
    digest(outputEncoding) {
      const state = slots(this);
      // The second digest of an HMAC is empty.
      if (state.isFinal) return encoded(new Uint8Array(0), outputEncoding);
      state.isFinal = true;
      return encoded(native.finishHasher(state.hasher), outputEncoding);
    }
  }
  const newHasher = (algorithm, key) => {
    const name = hashOf(algorithm);
    return name === undefined ? undefined : native.newHasher(name, key);
  };

  // Random integers below `range`, without preference for any: what would give some is drawn again.
  const below = (range) => {
    const most = 281474976710656 - (281474976710656 % range);
    for (;;) {
      const bytes = native.randomBytes(6);
      let value = 0;
      for (let i = 0; i < 6; i++) value = value * 256 + bytes[i];
      if (value < most) return value % range;
    }
  };
  const isSafe = (value) => isInteger(value) && value >= -9007199254740991 && value <= 9007199254740991;
  // Runs now, tells later: with a callback a failure is thrown all the same where it is one of the arguments.
  const answer = (value, callback) => {
    if (callback === undefined) return value;
    nextTick(callback, null, value);
    return undefined;
  };
  const place = (target, offset, size) => {
    const whole = typeof target === "object" && target !== null ? bytesOf(target) : undefined;
    if (whole === undefined) throw badType("buf", "an instance of ArrayBuffer or ArrayBufferView", target);
    const unit = kindOf(target) === "view" ? target.BYTES_PER_ELEMENT : 1;
    if (offset === undefined) offset = 0;
    else {
      lib.needNumber(offset, "offset");
      offset *= unit;
      if (offset !== offset || offset > whole.length || offset < 0) throw outOfRange("offset", ">= 0 && <= " + whole.length, offset);
    }
    if (size === undefined) size = whole.length - offset;
    else {
      lib.needNumber(size, "size");
      size *= unit;
      if (size !== size || size > 2147483647 || size < 0) throw outOfRange("size", ">= 0 && <= 2147483647", size);
      if (size + offset > whole.length) throw outOfRange("size + offset", "<= " + whole.length, size + offset);
    }
    native.fillRandom(whole.buffer, whole.offset + offset, size);
    return target;
  };

  const { crypto } = lib;
  const subtle = lib.getOwnPropertyDescriptor(lib.getPrototypeOf(crypto), "subtle")?.get;
  const members = {
    Hash,
    Hmac,
    constants: {},
    createHash(algorithm, options) {
      needString(algorithm, "algorithm");
      // Options are of streams and of digests whose length can be chosen: there are none.
      void options;
      const hasher = newHasher(algorithm, undefined);
      if (hasher === undefined) throw new Error("Digest method not supported");
      return new Hash(hasher);
    },
    createHmac(hmac, key, options) {
      needString(hmac, "hmac");
      if (key === null || key === undefined) throw badType("key", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey", key);
      const secret = typeof key === "object" && kindOf(key) === "buffer" ? copyBytes(bytesOf(key)) : bytesFrom(key, options?.encoding, "key", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey");
      const hasher = newHasher(hmac, secret);
      if (hasher === undefined) throw invalidDigest(hmac);
      return new Hmac(hasher);
    },
    getHashes() {
      return ["RSA-MD5", "RSA-SHA1", "RSA-SHA256", "RSA-SHA384", "RSA-SHA512", "md5", "sha1", "sha256", "sha384", "sha512"];
    },
    getRandomValues(array) {
      return apply(lib.randomValues, crypto, [array]);
    },
    hash(algorithm, input, outputEncoding = "hex") {
      needString(algorithm, "algorithm");
      const data = bytesFrom(input, undefined, "input");
      const name = hashOf(algorithm);
      if (name === undefined) throw new Error("Digest method not supported");
      return encoded(native.digest(name, data), outputEncoding);
    },
    randomBytes(size, callback) {
      lib.needNumber(size, "size");
      if (!(size >= 0 && size <= 2147483647)) throw outOfRange("size", ">= 0 && <= 2147483647", size);
      if (callback !== undefined) needFunction(callback, "callback");
      return answer(adoptBuffer(native.randomBytes(floor(size))), callback);
    },
    randomFill(buf, offset, size, callback) {
      if (typeof offset === "function") {
        callback = offset;
        offset = size = undefined;
      } else if (typeof size === "function") {
        callback = size;
        size = undefined;
      } else needFunction(callback, "callback");
      answer(place(buf, offset, size), callback);
    },
    randomFillSync(buf, offset, size) {
      return place(buf, offset, size);
    },
    randomInt(min, max, callback) {
      const isMinGiven = !(max === undefined || typeof max === "function");
      if (!isMinGiven) {
        callback = max;
        max = min;
        min = 0;
      }
      if (callback !== undefined) needFunction(callback, "callback");
      if (!isSafe(min)) throw badType("min", "a safe integer", min);
      if (!isSafe(max)) throw badType("max", "a safe integer", max);
      if (max <= min) throw outOfRange("max", 'greater than the value of "min" (' + min + ")", max);
      if (max - min > 281474976710655) throw outOfRange(isMinGiven ? "max - min" : "max", "<= 281474976710655", max - min);
      return answer(min + below(max - min), callback);
    },
    randomUUID(options) {
      if (options !== undefined) {
        needObject(options, "options");
        if (options.disableEntropyCache !== undefined) lib.needBoolean(options.disableEntropyCache, "options.disableEntropyCache");
      }
      return native.randomUuid();
    },
    subtle: subtle === undefined ? undefined : apply(subtle, crypto, []),
    timingSafeEqual(a, b) {
      const left = isObject(a) ? bytesOf(a) : undefined, right = isObject(b) ? bytesOf(b) : undefined;
      if (left === undefined) throw badType("buf1", "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", a);
      if (right === undefined) throw badType("buf2", "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", b);
      if (left.length !== right.length) throw coded(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
      return native.equalBytes(copyBytes(left), copyBytes(right));
    },
    webcrypto: crypto,
  };
  const derive = {
    pbkdf2Sync(password, salt, iterations, keylen, digest) {
      needString(digest, "digest");
      const secret = secretFrom(password, "password"), bytes = secretFrom(salt, "salt");
      needInteger(iterations, "iterations", 1, 2147483647);
      needInteger(keylen, "keylen", 0, 2147483647);
      const name = hashOf(digest);
      if (name === undefined) throw invalidDigest(digest);
      return adoptBuffer(native.pbkdf2(name, secret, bytes, iterations, keylen));
    },
    pbkdf2(password, salt, iterations, keylen, digest, callback) {
      needFunction(callback, "callback");
      answer(derive.pbkdf2Sync(password, salt, iterations, keylen, digest), callback);
    },
    hkdfSync(digest, ikm, salt, info, keylen) {
      needString(digest, "digest");
      const secret = secretFrom(ikm, "ikm"), bytes = secretFrom(salt, "salt"), context = secretFrom(info, "info");
      needInteger(keylen, "length", 0, 2147483647);
      if (arrayBytes(context) > 1024) throw coded(RangeError, "ERR_OUT_OF_RANGE", 'The value of "info" is out of range. It must be must not contain more than 1024 bytes. Received ' + arrayBytes(context));
      const name = hashOf(digest);
      if (name === undefined) throw invalidDigest(digest);
      const derived = native.hkdf(name, secret, bytes, context, keylen);
      if (derived === undefined) throw coded(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
      return arrayBuffer(derived);
    },
    hkdf(digest, ikm, salt, info, keylen, callback) {
      needFunction(callback, "callback");
      answer(derive.hkdfSync(digest, ikm, salt, info, keylen), callback);
    },
  };
  const all = { ...members, ...derive };
  return { __proto__: null, ...all, default: all };
});
