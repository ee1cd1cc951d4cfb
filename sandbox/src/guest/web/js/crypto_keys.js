// CryptoKey, and keys from and to bytes and JSON Web Keys (Web Cryptography, sections 13, 29 to 33).
(function (lib) {
  const {
    define, expose, guard, secret, illegal, isObject, sequence, enumeration, native, cryptoFail: fail, cryptoHashes, list, append, arrayOf, isArray,
    arrayBytes, arrayBuffer, copyBytes, platform, parseJson, jsonText, setPrototypeOf, Uint8Array, TypeError,
  } = lib;

  const usageNames = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"];
  // `sequence<KeyUsage>`.
  lib.keyUsages = (value) => sequence(value, (item) => enumeration(item, usageNames, "KeyUsage"), "keyUsages");
  const has = (lib.hasUsage = (usages, usage) => {
    for (let i = 0; i < usages.length; i++) if (usages[i] === usage) return true;
    return false;
  });
  // Each once, in the order of the standard.
  const normalized = (usages) => {
    const result = list();
    for (let i = 0; i < usageNames.length; i++) if (has(usages, usageNames[i])) append(result, usageNames[i]);
    return result;
  };
  const copyOf = (items) => {
    const copy = list();
    for (let i = 0; i < items.length; i++) append(copy, items[i]);
    return arrayOf(copy);
  };

  // The slots: name, hash (or undefined), length in bits (or undefined), extractable, usages, and the bytes. `shown` and
  // `list` are what programs see of algorithm and usages, always the same objects; what they do to them changes nothing.
  let slots;
  class CryptoKey {
    #slots;
    constructor(token = undefined, key = undefined) {
      guard(token);
      this.#slots = key;
    }
    static {
      slots = (key) => {
        try {
          return key.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isCryptoKey = (value) => isObject(value) && #slots in value;
    }
    get type() {
      slots(this);
      return "secret";
    }
    get extractable() {
      return slots(this).extractable;
    }
    get algorithm() {
      return slots(this).shown;
    }
    get usages() {
      return slots(this).list;
    }
  }
  define(CryptoKey, lib.isCryptoKey);
  platform[platform.length - 1].clone = (key) => newKey(slots(key));
  expose("CryptoKey", CryptoKey);
  lib.keySlots = (value, what) => {
    if (!lib.isCryptoKey(value)) throw new TypeError(what + " is not of type 'CryptoKey'.");
    return slots(value);
  };
  const newKey = ({ name, hash, length, extractable, usages, bytes }) => {
    const shown = { name };
    if (hash !== undefined) native.put(shown, "hash", { name: hash });
    if (length !== undefined) native.put(shown, "length", length);
    return new CryptoKey(secret, { __proto__: null, name, hash, length, extractable, usages, bytes, shown, list: copyOf(usages) });
  };

  // What each algorithm allows its keys to be used for.
  const allowed = {
    __proto__: null, HMAC: ["sign", "verify"], "AES-GCM": ["encrypt", "decrypt", "wrapKey", "unwrapKey"], PBKDF2: ["deriveKey", "deriveBits"],
    HKDF: ["deriveKey", "deriveBits"],
  };
  const checkUsages = (name, usages) => {
    for (let i = 0; i < usages.length; i++) {
      if (!has(allowed[name], usages[i])) fail("SyntaxError", "A key of " + name + " cannot be used for " + usages[i] + ".");
    }
  };
  const finish = (key, usages) => {
    if (usages.length === 0) fail("SyntaxError", "A secret key without usages is of no use.");
    key.usages = normalized(usages);
    return newKey(key);
  };

  // `data` is a Uint8Array that nobody else holds, or a record of a JSON Web Key.
  lib.importSecret = (format, data, { name, hash, length }, extractable, usages) => {
    if ((name === "PBKDF2" || name === "HKDF") && format !== "raw") {
      fail("NotSupportedError", "A key of " + name + ' can only be imported as "raw".');
    }
    checkUsages(name, usages);
    if (format !== "raw" && format !== "jwk") {
      fail("NotSupportedError", "A key of " + name + ' cannot be imported as "' + format + '"; there are "raw" and "jwk".');
    }
    const key = { __proto__: null, name, hash, length: undefined, extractable, usages: undefined, bytes: undefined };
    switch (name) {
      case "HMAC":
        key.bytes = format === "raw" ? data : bytesOfJwk(data, cryptoHashes[hash].jwk, "sig", extractable, usages);
        truncate(key, length);
        break;
      case "AES-GCM":
        key.bytes = format === "raw" ? data : bytesOfJwk(data, undefined, "enc", extractable, usages);
        key.length = arrayBytes(key.bytes) * 8;
        if (!isAesLength(key.length)) fail("DataError", "A key of AES has 128, 192 or 256 bits, not " + key.length + ".");
        if (format === "jwk" && data.alg !== undefined && data.alg !== aesName(key.length)) {
          fail("DataError", "The JSON Web Key's \"alg\" is not " + aesName(key.length) + ".");
        }
        break;
      default:
        if (extractable) fail("SyntaxError", "A key of " + name + " cannot be extractable.");
        key.bytes = data;
    }
    return finish(key, usages);
  };
  // The first bits of an HMAC key, if fewer are asked for than its bytes have: up to seven fewer.
  const truncate = (key, length) => {
    const bits = arrayBytes(key.bytes) * 8;
    if (bits === 0) fail("DataError", "A key of HMAC cannot be empty.");
    if (length !== undefined && (length > bits || length <= bits - 8)) {
      fail("DataError", "The key has " + bits + " bits, which does not fit a length of " + length + ".");
    }
    key.length = length ?? bits;
    clearBehind(key.bytes, key.length);
  };
  const clearBehind = (bytes, length) => {
    const extra = arrayBytes(bytes) * 8 - length;
    if (extra > 0) bytes[arrayBytes(bytes) - 1] &= 0xff << extra;
  };

  const isAesLength = (bits) => bits === 128 || bits === 192 || bits === 256;
  const aesName = (bits) => "A" + bits + "GCM";

  lib.generateSecret = ({ name, hash, length }, extractable, usages) => {
    checkUsages(name, usages);
    const bits = keyLength({ __proto__: null, name, hash, length }, "OperationError");
    const bytes = native.randomBytes(lib.floor((bits + 7) / 8));
    clearBehind(bytes, bits);
    return finish({ __proto__: null, name, hash, length: bits, extractable, usages: undefined, bytes }, usages);
  };
  // "Get key length": in bits; null for keys that are material for others.
  const keyLength = (lib.keyLength = ({ name, hash, length }, refusal) => {
    switch (name) {
      case "HMAC":
        if (length !== 0) return length ?? cryptoHashes[hash].block;
        if (refusal === undefined) throw new TypeError("A key of HMAC cannot be empty.");
        return fail(refusal, "A key of HMAC cannot be empty.");
      case "AES-GCM":
        return isAesLength(length) ? length : fail("OperationError", "A key of AES has 128, 192 or 256 bits, not " + length + ".");
    }
    return null;
  });

  // JSON Web Keys. Reading follows Web IDL: each member once, in the order of their names.
  const texts = ["alg", "crv", "d", "dp", "dq", "e", "ext", "k", "key_ops", "kty", "n", "p", "q", "qi", "use", "x", "y"];
  lib.readJwk = (value, toList = (items) => sequence(items, (item) => lib.toText(item), "key_ops")) => {
    const jwk = { __proto__: null };
    for (let i = 0; i < texts.length; i++) {
      const name = texts[i];
      const item = value[name];
      if (item !== undefined) jwk[name] = name === "key_ops" ? toList(item) : name === "ext" ? !!item : lib.toText(item);
    }
    return jwk;
  };
  const bytesOfJwk = (jwk, alg, use, extractable, usages) => {
    if (jwk.kty !== "oct") fail("DataError", 'The JSON Web Key\'s "kty" is not "oct".');
    const bytes = jwk.k === undefined ? undefined : native.fromBase64Url(lib.toWellFormed(jwk.k));
    if (bytes === undefined) fail("DataError", 'The JSON Web Key\'s "k" is not base64url.');
    if (alg !== undefined && jwk.alg !== undefined && jwk.alg !== alg) fail("DataError", "The JSON Web Key's \"alg\" is not \"" + alg + '".');
    if (usages.length > 0 && jwk.use !== undefined && jwk.use !== use) fail("DataError", "The JSON Web Key's \"use\" is not \"" + use + '".');
    if (jwk.key_ops !== undefined) {
      for (let i = 0; i < jwk.key_ops.length; i++) {
        for (let j = 0; j < i; j++) if (jwk.key_ops[i] === jwk.key_ops[j]) fail("DataError", 'The JSON Web Key\'s "key_ops" has duplicates.');
      }
      for (let i = 0; i < usages.length; i++) {
        if (!has(jwk.key_ops, usages[i])) fail("DataError", "The JSON Web Key's \"key_ops\" lack \"" + usages[i] + '".');
      }
    }
    if (jwk.ext === false && extractable) fail("DataError", 'The JSON Web Key is not extractable: its "ext" is false.');
    return bytes;
  };
  const jwkOf = ({ name, hash, length, extractable, usages, bytes }) => {
    const alg = name === "HMAC" ? cryptoHashes[hash].jwk : aesName(length);
    return { __proto__: null, alg, ext: extractable, k: native.base64Url(bytes), key_ops: usages, kty: "oct" };
  };

  const checkExport = (format, key) => {
    if (key.name !== "HMAC" && key.name !== "AES-GCM") fail("NotSupportedError", "A key of " + key.name + " cannot be exported.");
    if (!key.extractable) fail("InvalidAccessError", "The key is not extractable.");
    if (format !== "raw" && format !== "jwk") {
      fail("NotSupportedError", "A key of " + key.name + ' cannot be exported as "' + format + '"; there are "raw" and "jwk".');
    }
  };
  const copyBytesOf = (bytes) => copyBytes({ __proto__: null, buffer: arrayBuffer(bytes), offset: 0, length: arrayBytes(bytes) });
  // What a program gets: an ArrayBuffer, or an object.
  lib.exportSecret = (format, key) => {
    checkExport(format, key);
    if (format === "raw") return arrayBuffer(copyBytesOf(key.bytes));
    const jwk = jwkOf(key);
    jwk.key_ops = copyOf(jwk.key_ops);
    setPrototypeOf(jwk, lib.ObjectPrototype);
    return jwk;
  };
  // The same as bytes to be wrapped, and back. No member of a prototype has a part in it.
  lib.exportedBytes = (format, key) => {
    checkExport(format, key);
    return format === "raw" ? key.bytes : native.utf8Encode(jsonText(jwkOf(key)));
  };
  lib.parseJwk = (bytes) => {
    let value;
    try {
      value = parseJson(native.decodeOnce("utf-8", false, false, arrayBuffer(bytes), 0, arrayBytes(bytes)));
    } catch {}
    if (!isObject(value)) fail("DataError", "The bytes are not a JSON Web Key.");
    setPrototypeOf(value, null);
    return lib.readJwk(value, (items) => {
      if (!isArray(items)) fail("DataError", 'The JSON Web Key\'s "key_ops" are not a list.');
      const result = list();
      for (let i = 0; i < items.length; i++) append(result, lib.toText(items[i]));
      return result;
    });
  };
});
