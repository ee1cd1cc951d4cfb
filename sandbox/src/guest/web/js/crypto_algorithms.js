// Which algorithms there are for what, and their parameters (Web Cryptography, sections 18.4 and on).
(function (lib) {
  const { DOMException, TypeError, kindOf, bytesOf, copyBytes, isObject, enforceRange, charCodeAt, toUpperCase, joinList, list, append, arrayOf, keysOf, Uint8Array } = lib;

  const fail = (lib.cryptoFail = (name, message) => {
    throw new DOMException(message, name);
  });

  // `BufferSource`: where its bytes are.
  const sourceOf = (lib.bufferSource = (value, what) => {
    const place = bytesOf(value);
    if (place === undefined || kindOf(place.buffer) === "shared") {
      throw new TypeError(what + " is not of type 'ArrayBuffer' or a view of one.");
    }
    return place;
  });
  // Those bytes as a Uint8Array over the same memory, for as long as no program runs.
  lib.bytesNow = ({ buffer, offset, length }) => {
    return length === 0 ? new Uint8Array(0) : new Uint8Array(buffer, offset, length);
  };
  // `AlgorithmIdentifier`: an object or a name.
  const identifier = (lib.algorithmIdentifier = (value) => (isObject(value) ? value : lib.toText(value)));

  // The hashes by their names: the native's name, the size of a block in bits, and what a JSON Web Key of HMAC calls it.
  const hashes = (lib.cryptoHashes = {
    __proto__: null,
    "SHA-1": { __proto__: null, native: "sha1", block: 512, jwk: "HS1" },
    "SHA-256": { __proto__: null, native: "sha256", block: 512, jwk: "HS256" },
    "SHA-384": { __proto__: null, native: "sha384", block: 1024, jwk: "HS384" },
    "SHA-512": { __proto__: null, native: "sha512", block: 1024, jwk: "HS512" },
    MD5: { __proto__: null, native: "md5", block: 512, jwk: undefined },
  });

  // Members of parameters: how each is read, in the order of their names.
  const member = (name, kind, isRequired) => ({ __proto__: null, name, kind, isRequired });
  const members = (...given) => {
    const items = list();
    for (let i = 0; i < given.length; i++) append(items, given[i]);
    return items;
  };
  const none = members();
  const hash = member("hash", "hash", true);
  const hmac = members(hash, member("length", "long", false));
  const aesLength = members(member("length", "short", true));
  const gcm = members(member("additionalData", "bytes", false), member("iv", "bytes", true), member("tagLength", "octet", false));
  const pbkdf2 = members(hash, member("iterations", "long", true), member("salt", "bytes", true));
  const hkdf = members(hash, member("info", "bytes", true), member("salt", "bytes", true));
  // MD5 is not the standard's: there are digests by it, as in the reference, but no keys for it and none derived by it.
  const digests = { __proto__: null };
  const ofKeys = { __proto__: null };
  const names = keysOf(hashes);
  for (let i = 0; i < names.length; i++) {
    digests[names[i]] = none;
    if (names[i] !== "MD5") ofKeys[names[i]] = none;
  }

  const operations = {
    __proto__: null,
    digest: digests,
    hash: ofKeys,
    sign: { __proto__: null, HMAC: none },
    encrypt: { __proto__: null, "AES-GCM": gcm },
    derive: { __proto__: null, PBKDF2: pbkdf2, HKDF: hkdf },
    generate: { __proto__: null, HMAC: hmac, "AES-GCM": aesLength },
    import: { __proto__: null, HMAC: hmac, "AES-GCM": none, PBKDF2: none, HKDF: none },
    length: { __proto__: null, HMAC: hmac, "AES-GCM": aesLength, PBKDF2: none, HKDF: none },
  };
  const purposes = {
    __proto__: null, digest: "for digests", hash: "as the hash of a key", sign: "for signatures", encrypt: "for encryption", derive: "to derive bits",
    generate: "to generate keys", import: "to import keys", length: "as the algorithm of a derived key",
  };
  const bounds = { __proto__: null, octet: 255, short: 65535, long: 4294967295 };

  // Names are compared without regard to the case of ASCII letters; no other characters are in any of them.
  const canonical = (name) => {
    for (let i = 0; i < name.length; i++) if (charCodeAt(name, i) > 127) return name;
    return toUpperCase(name);
  };

  // "Normalize an algorithm": a record of its name and its members.
  const normalize = (lib.normalizeAlgorithm = (operation, algorithm) => {
    const given = identifier(algorithm);
    const supported = operations[operation];
    const asked = typeof given === "string" ? given : nameOf(given);
    const name = canonical(asked);
    const wanted = supported[name];
    if (wanted === undefined) {
      fail("NotSupportedError", 'Unrecognized or unsupported algorithm "' + asked + '" ' + purposes[operation] + "; there are: " + joinList(arrayOf(keysOf(supported)), ", ") + ".");
    }
    const result = { __proto__: null, name };
    if (typeof given === "string") {
      for (let i = 0; i < wanted.length; i++) if (wanted[i].isRequired) missing(name, wanted[i].name);
      return result;
    }
    if (wanted.length === 0) return result;
    // As a dictionary of its own type, the name is read again.
    nameOf(given);
    for (let i = 0; i < wanted.length; i++) {
      const { name: key, kind, isRequired } = wanted[i];
      const value = given[key];
      if (value === undefined) {
        if (isRequired) missing(name, key);
      } else if (kind === "bytes") {
        sourceOf(value, name + ": " + key);
        result[key] = value;
      } else {
        result[key] = kind === "hash" ? identifier(value) : enforceRange(value, bounds[kind], name + ": " + key);
      }
    }
    // Bytes are copied when everything was read: reading may have changed them.
    for (let i = 0; i < wanted.length; i++) {
      const { name: key, kind } = wanted[i];
      if (result[key] === undefined) continue;
      if (kind === "bytes") result[key] = copyBytes(bytesOf(result[key]));
      else if (kind === "hash") result[key] = normalize("hash", result[key]).name;
    }
    return result;
  });
  const nameOf = (given) => {
    const { name } = given;
    if (name === undefined) throw new TypeError("The algorithm has no name.");
    return lib.toText(name);
  };
  const missing = (name, key) => {
    throw new TypeError(name + ": the member '" + key + "' is required.");
  };
});
