const out = [];
const hashes = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
const odd = ["undefined", "null", "1", "''", "'nope'", "{}", "[]", "Symbol()", "{name: null}", "{name: 'NOPE'}", "() => 1", "{get name() { throw new RangeError() }}"];
const source = ["new Uint8Array(0)", "new Uint8Array([1,2,3])", "new Uint8Array([9,1,2,3,9]).subarray(1, 4)", "new ArrayBuffer(65)", "new DataView(new Uint8Array([1,2,3]).buffer, 1)", "new Uint16Array([1, 513])", "new Float64Array([0.5])", "new Uint8Array(1000).fill(7)"];
const noSource = ["undefined", "null", "1", "'abc'", "{}", "[1,2]", "{byteLength: 3}"];

// Digests.
for (const hash of [...hashes, "sha-1", "Sha-256", "SHA256", "SHA-224", "SHA3-256", " SHA-1"]) {
  for (const data of source) out.push(`return crypto.subtle.digest(${JSON.stringify(hash)}, ${data})`);
  out.push(`return crypto.subtle.digest({name: ${JSON.stringify(hash)}, x: 1}, new Uint8Array(3))`);
}
for (let length = 50; length < 140; length += 3) for (const hash of hashes) out.push(`return crypto.subtle.digest('${hash}', Uint8Array.from({length: ${length}}, (_, i) => i * 7))`);
for (const data of noSource) out.push(`return crypto.subtle.digest('SHA-1', ${data})`);
for (const algorithm of odd) out.push(`return crypto.subtle.digest(${algorithm}, new Uint8Array(3))`);
out.push("const b = new Uint8Array([1,2,3]); const p = crypto.subtle.digest('SHA-1', b); b[0] = 9; return p");
out.push("const b = new Uint8Array([1,2,3]); b.buffer.transfer?.() ?? structuredClone(b, {transfer: [b.buffer]}); return crypto.subtle.digest('SHA-1', b)");
out.push("return crypto.subtle.digest('SHA-1')", "return crypto.subtle.digest()", "return crypto.subtle.digest.call({}, 'SHA-1', new Uint8Array(1))");
out.push("const p = crypto.subtle.digest(); return [p instanceof Promise, await p.catch((e) => e.name)]");

// HMAC.
const raw = (data, algorithm, extractable, usages) => `crypto.subtle.importKey('raw', ${data}, ${algorithm}, ${extractable}, ${usages})`;
// Node keeps usages, and members of algorithms and keys, in an order of its own.
const sorted = "const sorted = (o) => Array.isArray(o) ? [...o].sort() : Object.fromEntries(Object.keys(o).sort().map((key) => [key, typeof o[key] === 'object' ? sorted(o[key]) : o[key]]));";
const show = `${sorted} const show = (k) => [k.type, k.extractable, sorted(k.algorithm), sorted(k.usages)];`;
for (const hash of hashes) {
  for (const length of [1, 20, 64, 65, 128, 129, 200]) {
    for (const data of source.slice(0, 3)) {
      out.push(`${sorted} const k = await ${raw(`Uint8Array.from({length: ${length}}, (_, i) => i)`, `{name: 'HMAC', hash: '${hash}'}`, true, "['sign', 'verify']")}; const s = await crypto.subtle.sign('HMAC', k, ${data}); return [s, await crypto.subtle.verify('HMAC', k, s, ${data}), await crypto.subtle.verify('HMAC', k, s.slice(1), ${data}), sorted(k.algorithm), await crypto.subtle.exportKey('raw', k), sorted(await crypto.subtle.exportKey('jwk', k))]`);
    }
  }
  out.push(`${show} const k = await crypto.subtle.generateKey({name: 'HMAC', hash: '${hash}'}, true, ['sign']); return [show(k), (await crypto.subtle.exportKey('raw', k)).byteLength]`);
  for (const length of [0, 8, 16, 24, 160, "'512'"]) out.push(`${show} const k = await crypto.subtle.generateKey({name: 'HMAC', hash: '${hash}', length: ${length}}, true, ['verify', 'sign']); return [show(k), (await crypto.subtle.exportKey('raw', k)).byteLength]`);
}
for (const algorithm of [...odd, "'HMAC'", "{name: 'HMAC'}", "{name: 'hmac', hash: 'sha-1'}", "{name: 'HMAC', hash: {name: 'SHA-1'}}", "{name: 'HMAC', hash: 'MD4'}", "{name: 'HMAC', hash: 'MD5'}", "{name: 'HMAC', hash: null}", "{name: 'HMAC', hash: 'SHA-1', length: 16}", "{name: 'HMAC', hash: 'SHA-1', length: 25}", "{name: 'HMAC', hash: 'SHA-1', length: 32}", "{name: 'HMAC', hash: 'SHA-1', length: -1}", "{name: 'HMAC', hash: 'SHA-1', length: 1e99}", "'PBKDF2'", "'HKDF'", "'AES-GCM'"]) {
  for (const usages of ["['sign']", "[]", "['deriveBits']", "['encrypt', 'decrypt', 'encrypt']"]) out.push(`${show} return show(await ${raw("new Uint8Array([1,2,3])", algorithm, false, usages)})`);
}
for (const name of ["PBKDF2", "HKDF"]) out.push(`const k = await ${raw("new Uint8Array([1,2,3])", `'${name}'`, false, "['deriveBits']")}; return crypto.subtle.deriveBits({name: '${name}', hash: 'MD5', salt: new Uint8Array(8), info: new Uint8Array(0), iterations: 2}, k, 128)`);
for (const data of [...source, ...noSource]) out.push(`${show} return show(await ${raw(data, "{name: 'HMAC', hash: 'SHA-1'}", false, "['sign']")})`);
for (const usages of ["undefined", "null", "'sign'", "['nope']", "[]", "['verify', 'sign', 'sign']", "new Set(['sign'])", "{}", "['encrypt']", "[Symbol()]"]) out.push(`${show} return show(await ${raw("new Uint8Array(4)", "{name: 'HMAC', hash: 'SHA-1'}", "'yes'", usages)})`);
for (const format of ["'RAW'", "'spki'", "'pkcs8'", "undefined", "1", "'jwk'"]) {
  out.push(`return (await crypto.subtle.importKey(${format}, new Uint8Array(4), {name: 'HMAC', hash: 'SHA-1'}, true, ['sign'])).type`);
  out.push(`const k = await ${raw("new Uint8Array(4)", "{name: 'HMAC', hash: 'SHA-1'}", true, "['sign']")}; return crypto.subtle.exportKey(${format}, k)`);
  out.push(`const k = await ${raw("new Uint8Array(16)", "'AES-GCM'", true, "['encrypt']")}; return crypto.subtle.exportKey(${format}, k)`);
}
out.push(`const k = await ${raw("new Uint8Array(4)", "{name: 'HMAC', hash: 'SHA-1'}", false, "['sign']")}; return crypto.subtle.exportKey('raw', k)`);
out.push(`const k = await ${raw("new Uint8Array(4)", "'PBKDF2'", false, "['deriveBits']")}; return crypto.subtle.exportKey('raw', k)`);
out.push(`const k = await ${raw("new Uint8Array(4)", "{name: 'HMAC', hash: 'SHA-1'}", false, "['sign']")}; return [k.usages === k.usages, k.algorithm === k.algorithm, k.algorithm.hash === k.algorithm.hash, Object.prototype.toString.call(k)]`);
out.push(`const k = await ${raw("new Uint8Array(4)", "{name: 'HMAC', hash: 'SHA-1'}", true, "['sign']")}; const c = structuredClone(k); ${sorted} return [c !== k, sorted(c.algorithm), sorted(c.usages), await crypto.subtle.sign('HMAC', c, new Uint8Array(1))]`);

// JSON Web Keys.
const jwks = ["{kty: 'oct', k: 'AQID'}", "{kty: 'oct', k: 'AQID', alg: 'HS256', ext: true, key_ops: ['sign', 'verify'], use: 'sig'}", "{kty: 'oct', k: 'AQID', alg: 'HS1'}", "{kty: 'oct', k: 'AQID', ext: false}", "{kty: 'oct', k: 'AQID', key_ops: ['verify']}", "{kty: 'oct', k: 'AQID', key_ops: ['sign', 'sign']}", "{kty: 'oct', k: 'AQID', key_ops: ['sign', 'other']}", "{kty: 'oct', k: 'AQID', use: 'enc'}", "{kty: 'oct', k: ''}", "{kty: 'oct'}", "{kty: 'RSA', k: 'AQID'}", "{k: 'AQID'}", "{}", "null", "undefined", "1", "'x'", "[]", "{kty: 'oct', k: '-_-_'}", "{kty: 'oct', k: 1234}", "{kty: 'oct', k: 'AQID', key_ops: 1}", "{kty: 'oct', k: 'AQID', get ext() { throw new RangeError() }}"];
for (const jwk of jwks) for (const extractable of [true, false]) out.push(`${sorted} const k = await crypto.subtle.importKey('jwk', ${jwk}, {name: 'HMAC', hash: 'SHA-256'}, ${extractable}, ['sign']); return [sorted(k.algorithm), sorted(k.usages), await crypto.subtle.sign('HMAC', k, new Uint8Array(2))]`);
const k16 = "AAECAwQFBgcICQoLDA0ODw";
for (const jwk of [`{kty: 'oct', k: '${k16}'}`, `{kty: 'oct', k: '${k16}', alg: 'A128GCM', use: 'enc', key_ops: ['encrypt', 'decrypt'], ext: true}`, `{kty: 'oct', k: '${k16}', alg: 'A256GCM'}`, "{kty: 'oct', k: 'AQID'}", `{kty: 'oct', k: '${k16}', use: 'sig'}`, `{kty: 'oct', k: '${k16}', key_ops: ['sign']}`]) out.push(`${sorted} const k = await crypto.subtle.importKey('jwk', ${jwk}, 'AES-GCM', true, ['encrypt']); return [sorted(k.algorithm), sorted(k.usages), await crypto.subtle.exportKey('raw', k), sorted(await crypto.subtle.exportKey('jwk', k))]`);

// AES-GCM.
const aes = (bytes, usages = "['encrypt', 'decrypt']") => raw(`Uint8Array.from({length: ${bytes}}, (_, i) => i * 3)`, "'AES-GCM'", true, usages);
for (const bytes of [16, 24, 32]) {
  for (const iv of [1, 8, 11, 12, 13, 16, 17, 60]) for (const data of [0, 1, 15, 16, 17, 33, 100]) {
    const parameters = `{name: 'AES-GCM', iv: new Uint8Array(${iv}).fill(5)${data % 2 ? ", additionalData: new Uint8Array([1,2,3])" : ""}}`;
    out.push(`const k = await ${aes(bytes)}; const c = await crypto.subtle.encrypt(${parameters}, k, new Uint8Array(${data}).fill(9)); return [c, (await crypto.subtle.decrypt(${parameters}, k, c)).byteLength]`);
  }
  for (const tag of [0, 8, 31, 32, 64, 96, 104, 112, 120, 128, 136, -1, 256, "'96'", "null"]) {
    const parameters = `{name: 'AES-GCM', iv: new Uint8Array(12), tagLength: ${tag}}`;
    out.push(`const k = await ${aes(bytes)}; const c = await crypto.subtle.encrypt(${parameters}, k, new Uint8Array([1,2,3])); return [c, await crypto.subtle.decrypt(${parameters}, k, c)]`);
  }
}
const gcm = "{name: 'AES-GCM', iv: new Uint8Array(12)}";
for (const bytes of [0, 1, 15, 17, 20, 33]) out.push(`return (await ${aes(bytes)}).algorithm`);
for (const parameters of ["'AES-GCM'", "{name: 'AES-GCM'}", "{name: 'AES-GCM', iv: 'x'}", "{name: 'AES-GCM', iv: new Uint8Array(0)}", "{name: 'AES-GCM', iv: new Uint8Array(12), additionalData: 1}", "{name: 'AES-GCM', iv: new Uint8Array(12), additionalData: null}", "{name: 'AES-GCM', iv: new Uint8Array(12), additionalData: undefined}", "{name: 'HMAC'}", "{name: 'x', iv: new Uint8Array(12)}"]) {
  out.push(`return crypto.subtle.encrypt(${parameters}, await ${aes(16)}, new Uint8Array(3))`);
  out.push(`return crypto.subtle.decrypt(${parameters}, await ${aes(16)}, new Uint8Array(30))`);
}
for (const data of ["new Uint8Array(0)", "new Uint8Array(15)", "new Uint8Array(16)", "new Uint8Array(17)", "'x'", "undefined"]) out.push(`return crypto.subtle.decrypt(${gcm}, await ${aes(16)}, ${data})`);
for (let at = 0; at < 19; at += 3) out.push(`const k = await ${aes(16)}; const c = new Uint8Array(await crypto.subtle.encrypt(${gcm}, k, new Uint8Array(3))); c[${at}] ^= 1; return crypto.subtle.decrypt(${gcm}, k, c)`);
out.push(`return crypto.subtle.encrypt(${gcm}, await ${aes(16, "['decrypt']")}, new Uint8Array(3))`, `return crypto.subtle.sign('HMAC', await ${aes(16)}, new Uint8Array(3))`, `return crypto.subtle.encrypt(${gcm}, {}, new Uint8Array(3))`);
for (const length of [0, 64, 127, 128, 192, 256, 512, "undefined", "'128'", 65536]) out.push(`${show} const k = await crypto.subtle.generateKey({name: 'AES-GCM', length: ${length}}, true, ['decrypt', 'encrypt']); return [show(k), (await crypto.subtle.exportKey('raw', k)).byteLength]`);
out.push("return (await crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, [])).type", "return (await crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['sign'])).type", "return (await crypto.subtle.generateKey('AES-GCM', true, ['encrypt'])).type", "return (await crypto.subtle.generateKey({name: 'PBKDF2'}, false, ['deriveBits'])).type");

// Derivation.
for (const hash of hashes) {
  for (const length of [8, 128, 160, 512, 1000]) {
    out.push(`return crypto.subtle.deriveBits({name: 'PBKDF2', hash: '${hash}', salt: new Uint8Array([1,2]), iterations: 3}, await ${raw("new Uint8Array([7])", "'PBKDF2'", false, "['deriveBits']")}, ${length})`);
    out.push(`return crypto.subtle.deriveBits({name: 'HKDF', hash: '${hash}', salt: new Uint8Array([1,2]), info: new ArrayBuffer(3)}, await ${raw("new Uint8Array([7])", "'HKDF'", false, "['deriveBits']")}, ${length})`);
  }
  const type = ["{name: 'AES-GCM', length: 256}", "{name: 'HMAC', hash: 'SHA-256'}", "{name: 'HMAC', hash: 'SHA-512', length: 32}", "{name: 'AES-GCM', length: 100}", "{name: 'AES-GCM'}", "'HKDF'"];
  for (const derived of type) for (const from of [`{name: 'PBKDF2', hash: '${hash}', salt: new Uint8Array(2), iterations: 1}`, `{name: 'HKDF', hash: '${hash}', salt: new Uint8Array(2), info: new Uint8Array(2)}`]) {
    const usages = derived.includes("AES") ? "['encrypt']" : derived.includes("HMAC") ? "['sign']" : "['deriveBits']";
    out.push(`${sorted} const k = await crypto.subtle.deriveKey(${from}, await ${raw("new Uint8Array([7])", from.includes("HKDF") ? "'HKDF'" : "'PBKDF2'", false, "['deriveKey']")}, ${derived}, ${derived !== "'HKDF'"}, ${usages}); return [sorted(k.algorithm), sorted(k.usages), await crypto.subtle.exportKey('raw', k)]`);
  }
}
for (const length of ["0", "7", "null", "undefined", "'8'", "1e9 * 8 + 1", "255 * 256", "255 * 256 + 8"]) for (const name of ["PBKDF2", "HKDF"]) out.push(`return (await crypto.subtle.deriveBits({name: '${name}', hash: 'SHA-256', salt: new Uint8Array(2), info: new Uint8Array(2), iterations: 1}, await ${raw("new Uint8Array([7])", `'${name}'`, false, "['deriveBits']")}, ${length})).byteLength`);
for (const members of ["hash: 'SHA-1', salt: new Uint8Array(2)", "hash: 'SHA-1', iterations: 1", "salt: new Uint8Array(2), iterations: 1", "hash: 'SHA-1', salt: 'x', iterations: 1", "hash: 'SHA-1', salt: new Uint8Array(2), iterations: 0", "hash: 'SHA-1', salt: new Uint8Array(2), iterations: -1", "hash: 'SHA-1', salt: new Uint8Array(2), iterations: 2 ** 32", "hash: 'SHA-1', salt: new Uint8Array(0), iterations: '2'", "hash: 'X', salt: new Uint8Array(2), iterations: 1"]) out.push(`return crypto.subtle.deriveBits({name: 'PBKDF2', ${members}}, await ${raw("new Uint8Array([7])", "'PBKDF2'", false, "['deriveBits']")}, 64)`);
for (const [extractable, usages] of [["true", "['deriveBits']"], ["false", "[]"], ["false", "['sign']"], ["false", "['deriveBits', 'deriveKey']"]]) for (const name of ["PBKDF2", "HKDF"]) out.push(`${show} return show(await ${raw("new Uint8Array(0)", `'${name}'`, extractable, usages)})`);
out.push(`return crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-1', salt: new Uint8Array(2), info: new Uint8Array(2)}, await ${raw("new Uint8Array([7])", "'PBKDF2'", false, "['deriveBits']")}, 64)`, `return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-1', salt: new Uint8Array(2), iterations: 1}, await ${raw("new Uint8Array([7])", "'PBKDF2'", false, "['deriveKey']")}, 64)`);

// Wrapping.
for (const format of ["raw", "jwk"]) {
  const wrapping = `${sorted} const w = await ${aes(16, "['wrapKey', 'unwrapKey']")}; const k = await ${raw("new Uint8Array([1,2,3])", "{name: 'HMAC', hash: 'SHA-256'}", true, "['sign']")}; const wrapped = await crypto.subtle.wrapKey('${format}', k, w, ${gcm});`;
  out.push(`${wrapping} const u = await crypto.subtle.unwrapKey('${format}', wrapped, w, ${gcm}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']); return [sorted(u.algorithm), sorted(u.usages), await crypto.subtle.exportKey('raw', u)]`);
  out.push(`${wrapping} return crypto.subtle.unwrapKey('${format}', wrapped, w, ${gcm}, {name: 'HMAC', hash: 'SHA-256'}, true, [])`);
  out.push(`${wrapping} return crypto.subtle.unwrapKey('${format}', wrapped.slice(1), w, ${gcm}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])`);
  out.push(`${wrapping} return (await crypto.subtle.unwrapKey('${format}', wrapped, w, ${gcm}, 'AES-GCM', true, ['encrypt'])).type`);
}
out.push(`const w = await ${aes(16, "['wrapKey']")}; const k = await ${raw("new Uint8Array([1,2,3])", "{name: 'HMAC', hash: 'SHA-256'}", false, "['sign']")}; return crypto.subtle.wrapKey('raw', k, w, ${gcm})`);
out.push(`const w = await ${aes(16, "['encrypt']")}; return crypto.subtle.wrapKey('raw', w, w, ${gcm})`);
out.push(`const w = await ${aes(16, "['unwrapKey', 'encrypt']")}; const junk = await crypto.subtle.encrypt(${gcm}, w, new Uint8Array([123, 1])); return crypto.subtle.unwrapKey('jwk', junk, w, ${gcm}, 'AES-GCM', true, ['encrypt'])`);

// What others have and we have not, and what getRandomValues takes.
const others = { "RSA-OAEP": "encrypt", "RSASSA-PKCS1-v1_5": "sign", "RSA-PSS": "sign", ECDSA: "sign", ECDH: "deriveBits", Ed25519: "sign", X25519: "deriveBits", "AES-CBC": "encrypt", "AES-CTR": "encrypt", "AES-KW": "wrapKey" };
for (const [name, usage] of Object.entries(others)) out.push(`return crypto.subtle.generateKey({name: '${name}', length: 128, modulusLength: 1024, publicExponent: new Uint8Array([1,0,1]), hash: 'SHA-1', namedCurve: 'P-256'}, true, ['${usage}']).then((k) => 'made', (e) => e.name)`);
for (const array of ["new ArrayBuffer(65)", ...noSource]) out.push(`const noView = ${array}; return crypto.getRandomValues(noView)`);
for (const array of [...source.filter((s) => !s.startsWith("new ArrayBuffer")), "new Int8Array(2)", "new Uint8ClampedArray(2)", "new BigInt64Array(2)", "new Float32Array(2)", "new Uint8Array(65536)", "new Uint8Array(65537)", "new Uint32Array(16385)"]) out.push(`const a = ${array}; const r = crypto.getRandomValues(a); return r === a`);
out.push("return crypto.getRandomValues()", "return crypto.randomUUID().length", "return [crypto.randomUUID.length, crypto.getRandomValues.length]");
out.push("return Object.fromEntries(Object.keys(SubtleCrypto.prototype).filter((n) => n !== 'timingSafeEqual').sort().map((n) => [n, SubtleCrypto.prototype[n].length]))");
out.push("return [Object.keys(Crypto.prototype).sort(), Object.keys(CryptoKey.prototype).sort(), String(crypto), String(crypto.subtle)]", "new Crypto()", "new SubtleCrypto()", "new CryptoKey()", "return crypto.subtle === crypto.subtle", "return Object.create(crypto).subtle");
export default out;
