// SubtleCrypto (Web Cryptography, section 14). Everything is done at the call; promises settle with what came of it.
(function (lib) {
  const {
    define, expose, guard, secret, illegal, isObject, need, enumeration, native, cryptoFail: fail, cryptoHashes, bufferSource, bytesNow, bytesOf, copyBytes,
    keyUsages, keySlots, hasUsage, importSecret, exportSecret, exportedBytes, generateSecret, keyLength, readJwk, parseJwk, arrayBuffer, arrayBytes,
    defineProperty, Promise, TypeError, Uint8Array,
  } = lib;
  const { normalizeAlgorithm: normalize, algorithmIdentifier: identifier } = lib;

  const formats = ["raw", "spki", "pkcs8", "jwk"];
  const formatOf = (value) => enumeration(value, formats, "KeyFormat");

  // The key must be of this algorithm and meant for this.
  const checkKey = (key, name, usage) => {
    if (key.name !== name) fail("InvalidAccessError", "The key is one of " + key.name + ", not of " + name + ".");
    if (!hasUsage(key.usages, usage)) fail("InvalidAccessError", "The key cannot be used for " + usage + ": its usages are " + lib.joinList(key.usages, ", ") + ".");
  };
  const hmac = (key, data) => native.hmac(cryptoHashes[key.hash].native, key.bytes, data);

  const tagLengths = [32, 64, 96, 104, 112, 120, 128];
  const none = new Uint8Array(0);
  const tagBytes = ({ tagLength = 128 }) => {
    for (let i = 0; i < tagLengths.length; i++) if (tagLengths[i] === tagLength) return tagLength / 8;
    return fail("OperationError", "A tag of AES-GCM has 32, 64, 96, 104, 112, 120 or 128 bits, not " + tagLength + ".");
  };
  const encrypt = (algorithm, key, data) => {
    const tag = tagBytes(algorithm);
    const sealed = native.aesGcmSeal(key.bytes, algorithm.iv, algorithm.additionalData ?? none, data, tag);
    return sealed ?? fail("OperationError", "An initialization vector of AES-GCM cannot be empty.");
  };
  const decrypt = (algorithm, key, data) => {
    const tag = tagBytes(algorithm);
    if (arrayBytes(data) < tag) fail("OperationError", "The data is shorter than its tag.");
    const opened = native.aesGcmOpen(key.bytes, algorithm.iv, algorithm.additionalData ?? none, data, tag);
    return opened ?? fail("OperationError", "The data does not fit key, initialization vector, additional data and tag.");
  };

  const derive = (algorithm, key, length) => {
    if (length === null || length % 8 !== 0) fail("OperationError", "The length is to be a multiple of 8 bits, not " + length + ".");
    const { name, hash, iterations, salt, info } = algorithm;
    const { native: hashName } = cryptoHashes[hash];
    if (name === "PBKDF2") {
      if (iterations === 0) fail("OperationError", "PBKDF2 has at least one iteration.");
      return native.pbkdf2(hashName, key.bytes, salt, iterations, length / 8);
    }
    return native.hkdf(hashName, key.bytes, salt, info, length / 8) ?? fail("OperationError", "HKDF gives no more bits than 255 digests have.");
  };

  // A promise of what `run` gives; what it throws, a wrong receiver included, is its rejection.
  const promised = (subtle, run) => lib.promising(() => {
    if (!lib.isSubtleCrypto(subtle)) illegal();
    return lib.resolved(run());
  });
  const counted = (given, wanted, name) => need(given, wanted, name + "' on 'SubtleCrypto");

  class SubtleCrypto {
    #brand;
    constructor(token = undefined) {
      guard(token);
    }
    static {
      lib.isSubtleCrypto = (value) => isObject(value) && #brand in value;
    }
    encrypt(algorithm, key, data) {
      return promised(this, () => {
        counted(arguments.length, 3, "encrypt");
        return run("encrypt", "encrypt", algorithm, key, data, (known, slots, bytes) => arrayBuffer(encrypt(known, slots, bytes)));
      });
    }
    decrypt(algorithm, key, data) {
      return promised(this, () => {
        counted(arguments.length, 3, "decrypt");
        return run("encrypt", "decrypt", algorithm, key, data, (known, slots, bytes) => arrayBuffer(decrypt(known, slots, bytes)));
      });
    }
    sign(algorithm, key, data) {
      return promised(this, () => {
        counted(arguments.length, 3, "sign");
        return run("sign", "sign", algorithm, key, data, (_, slots, bytes) => arrayBuffer(hmac(slots, bytes)));
      });
    }
    verify(algorithm, key, signature, data) {
      return promised(this, () => {
        counted(arguments.length, 4, "verify");
        const given = identifier(algorithm);
        const slots = keySlots(key, "parameter 2");
        bufferSource(signature, "parameter 3");
        bufferSource(data, "parameter 4");
        const { name } = normalize("sign", given);
        const expected = copyBytes(bytesOf(signature));
        const bytes = bytesNow(bytesOf(data));
        checkKey(slots, name, "verify");
        return native.equalBytes(hmac(slots, bytes), expected);
      });
    }
    digest(algorithm, data) {
      return promised(this, () => {
        counted(arguments.length, 2, "digest");
        const given = identifier(algorithm);
        bufferSource(data, "parameter 2");
        const { name } = normalize("digest", given);
        return arrayBuffer(native.digest(cryptoHashes[name].native, bytesNow(bytesOf(data))));
      });
    }
    generateKey(algorithm, extractable, keyUsages_) {
      return promised(this, () => {
        counted(arguments.length, 3, "generateKey");
        const given = identifier(algorithm);
        const usages = keyUsages(keyUsages_);
        return generateSecret(normalize("generate", given), !!extractable, usages);
      });
    }
    deriveKey(algorithm, baseKey, derivedKeyType, extractable, keyUsages_) {
      return promised(this, () => {
        counted(arguments.length, 5, "deriveKey");
        const given = identifier(algorithm);
        const slots = keySlots(baseKey, "parameter 2");
        const type = identifier(derivedKeyType);
        const usages = keyUsages(keyUsages_);
        const known = normalize("derive", given);
        const imported = normalize("import", type);
        const sized = normalize("length", type);
        checkKey(slots, known.name, "deriveKey");
        const bytes = derive(known, slots, keyLength(sized));
        return importSecret("raw", bytes, imported, !!extractable, usages);
      });
    }
    deriveBits(algorithm, baseKey, length = null) {
      return promised(this, () => {
        counted(arguments.length, 2, "deriveBits");
        const given = identifier(algorithm);
        const slots = keySlots(baseKey, "parameter 2");
        const bits = length === null ? null : +length >>> 0;
        const known = normalize("derive", given);
        checkKey(slots, known.name, "deriveBits");
        return arrayBuffer(derive(known, slots, bits));
      });
    }
    importKey(format, keyData, algorithm, extractable, keyUsages_) {
      return promised(this, () => {
        counted(arguments.length, 5, "importKey");
        const form = formatOf(format);
        const isBytes = bytesOf(keyData) !== undefined;
        if (isBytes) bufferSource(keyData, "parameter 2");
        else if (!isObject(keyData) && keyData !== undefined && keyData !== null) throw new TypeError("Parameter 2 is neither bytes nor a JSON Web Key.");
        const jwk = isBytes ? undefined : readJwk(keyData ?? { __proto__: null });
        const given = identifier(algorithm);
        const usages = keyUsages(keyUsages_);
        const known = normalize("import", given);
        if (isBytes === (form === "jwk")) throw new TypeError('The format "' + form + '" needs ' + (isBytes ? "a JSON Web Key" : "an ArrayBuffer or a view of one") + ".");
        return importSecret(form, isBytes ? copyBytes(bytesOf(keyData)) : jwk, known, !!extractable, usages);
      });
    }
    exportKey(format, key) {
      return promised(this, () => {
        counted(arguments.length, 2, "exportKey");
        return exportSecret(formatOf(format), keySlots(key, "parameter 2"));
      });
    }
    wrapKey(format, key, wrappingKey, wrapAlgorithm) {
      return promised(this, () => {
        counted(arguments.length, 4, "wrapKey");
        const form = formatOf(format);
        const slots = keySlots(key, "parameter 2");
        const wrapping = keySlots(wrappingKey, "parameter 3");
        const known = normalize("encrypt", wrapAlgorithm);
        checkKey(wrapping, known.name, "wrapKey");
        return arrayBuffer(encrypt(known, wrapping, exportedBytes(form, slots)));
      });
    }
    unwrapKey(format, wrappedKey, unwrappingKey, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages_) {
      return promised(this, () => {
        counted(arguments.length, 7, "unwrapKey");
        const form = formatOf(format);
        bufferSource(wrappedKey, "parameter 2");
        const unwrapping = keySlots(unwrappingKey, "parameter 3");
        const given = identifier(unwrapAlgorithm);
        const type = identifier(unwrappedKeyAlgorithm);
        const usages = keyUsages(keyUsages_);
        const known = normalize("encrypt", given);
        const imported = normalize("import", type);
        const wrapped = bytesNow(bytesOf(wrappedKey));
        checkKey(unwrapping, known.name, "unwrapKey");
        const bytes = decrypt(known, unwrapping, wrapped);
        return importSecret(form, form === "jwk" ? parseJwk(bytes) : bytes, imported, !!extractable, usages);
      });
    }
    // The reference's own.
    timingSafeEqual(a, b) {
      if (!lib.isSubtleCrypto(this)) illegal();
      counted(arguments.length, 2, "timingSafeEqual");
      const first = bytesNow(bufferSource(a, "parameter 1"));
      const second = bytesNow(bufferSource(b, "parameter 2"));
      if (arrayBytes(first) !== arrayBytes(second)) throw new TypeError("Input buffers must have the same byte length.");
      return native.equalBytes(first, second);
    }
  }
  // What encrypt, decrypt and sign have in common: bytes are looked at when the algorithm was read, whose getters may
  // have changed them.
  const run = (operation, usage, algorithm, key, data, act) => {
    const given = identifier(algorithm);
    const slots = keySlots(key, "parameter 2");
    bufferSource(data, "parameter 3");
    const known = normalize(operation, given);
    const bytes = bytesNow(bytesOf(data));
    checkKey(slots, known.name, usage);
    return act(known, slots, bytes);
  };
  define(SubtleCrypto, lib.isSubtleCrypto);
  expose("SubtleCrypto", SubtleCrypto);

  const subtle = new SubtleCrypto(secret);
  const { get } = lib.getOwnPropertyDescriptor({
    get subtle() {
      return lib.isCrypto(this) ? subtle : illegal();
    },
  }, "subtle");
  defineProperty(lib.global.Crypto.prototype, "subtle", { __proto__: null, get, enumerable: true, configurable: true });
});
