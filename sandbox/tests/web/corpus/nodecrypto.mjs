// node:crypto, value by value.
const out = [];
const add = (e) => out.push(`const crypto = (await import('node:crypto')).default; try { return ${e} } catch (e) { return [e.name, e.code, e.code && e.message] }`);
const algorithms = ["md5", "sha1", "sha256", "sha384", "sha512", "SHA256", "RSA-SHA256", "sha-256", "sha2-256", "nope", ""];
const data = ["''", "'abc'", "'héllo €'", "Buffer.from('abc')", "new Uint8Array([1, 2, 3])", "new Uint16Array([258])", "new DataView(new ArrayBuffer(3))", "'a'.repeat(1000)"];
for (const a of algorithms) {
  for (const d of data) {
    for (const e of ["'hex'", "'base64'", "'base64url'", "'latin1'", "", "'buffer'"]) {
      add(`((d) => [typeof d, Buffer.isBuffer(d), Buffer.from(d).toString('hex')])(crypto.createHash('${a}').update(${d}).digest(${e}))`);
    }
    add(`crypto.createHmac('${a}', ${d}).update('text').digest('hex')`);
    add(`crypto.createHmac('${a}', 'key').update(${d}).digest('base64')`);
  }
}
for (const v of ["undefined", "null", "5", "{}", "[]", "true", "() => 1", "new ArrayBuffer(2)", "new Date(0)"]) {
  add(`crypto.createHash(${v})`);
  add(`crypto.createHash('md5').update(${v}).digest('hex')`);
  add(`crypto.createHmac(${v}, 'k')`);
  add(`crypto.createHmac('sha1', ${v}).update('a').digest('hex')`);
  add(`crypto.randomBytes(${v}).length`);
  add(`crypto.timingSafeEqual(${v}, Buffer.from('a'))`);
  add(`crypto.timingSafeEqual(Buffer.from('a'), ${v})`);
  add(`crypto.randomUUID(${v}).length`);
  add(`crypto.randomFillSync(${v}) && 1`);
}
for (const e of ["'616263', 'hex'", "'YWJj', 'base64'", "'abc', 'latin1'", "'abc', 'nope'", "'ab', 'ucs2'", "Buffer.from('x'), 'hex'"]) add(`crypto.createHash('sha1').update(${e}).digest('hex')`);
for (const a of ["5", "1, 5", "0", "-1", "5, 5", "5, 1", "1.5", "'5'", "2 ** 48", "2 ** 48 - 1", "-10, -5", "NaN", "Infinity", "undefined", "0, 2 ** 50", "2 ** 60"]) add(`(typeof crypto.randomInt(${a}))`);
for (const a of ["0", "16", "-1", "1.5", "2147483648", "'5'"]) add(`crypto.randomBytes(${a}).length`);
for (const e of [
  "((h) => { h.update('a'); const c = h.copy(); h.update('b'); return [c.digest('hex'), h.digest('hex')] })(crypto.createHash('sha256'))", "((h) => { h.digest(); return h.digest() })(crypto.createHash('sha256'))", "((h) => { h.digest(); return h.update('a') })(crypto.createHash('sha256'))", "((h) => { h.digest(); return h.copy() })(crypto.createHash('sha256'))", "((h) => { h.digest(); return h.digest('hex') })(crypto.createHmac('sha256', 'k'))", "((h) => { h.digest(); return h.digest() })(crypto.createHmac('sha256', 'k'))", "((h) => { h.digest(); return h.update('a') })(crypto.createHmac('sha256', 'k'))", "crypto.createHash('md5').update('a').update('b').digest('hex')", "crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('b'))", "crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a'))", "crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('ab'))", "crypto.timingSafeEqual(new ArrayBuffer(2), new Uint16Array(1))", "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", "crypto.webcrypto === globalThis.crypto", "crypto.getRandomValues(new Uint8Array(4)).length", "crypto.createHash('sha256') instanceof crypto.Hash", "crypto.createHmac('sha256', 'k') instanceof crypto.Hmac", "crypto.hash('sha1', 'abc')", "crypto.hash('md5', Buffer.from('abc'), 'base64')", "crypto.hash('nope', 'abc')", "crypto.randomFillSync(Buffer.alloc(5), 9)", "crypto.randomFillSync(Buffer.alloc(5), 1, 9)", "crypto.randomFillSync(Buffer.alloc(5), 1, 2).length", "crypto.randomFillSync(new Uint32Array(2), 1).length", "crypto.getHashes().includes('sha256')",
  "await new Promise((r) => crypto.randomBytes(4, (e, b) => r([e, b.length])))", "await new Promise((r) => crypto.randomInt(5, (e, n) => r([e, typeof n])))", "await new Promise((r) => crypto.randomFill(Buffer.alloc(3), (e, b) => r([e, b.length])))", "crypto.createHash.name + crypto.createHash.length",
]) add(e);
for (const a of ["'p', 's', 10, 20, 'sha1'", "'p', Buffer.from('s'), 100, 32, 'sha256'", "'p', 's', 1, 64, 'SHA512'", "'p', 's', 0, 20, 'sha1'", "'p', 's', 1, -1, 'sha1'", "'p', 's', 1, 1, 'nope'", "'p', 's', 1, 1", "5, 's', 1, 1, 'sha1'", "'p', 's', 1, 0, 'md5'"]) add(`crypto.pbkdf2Sync(${a}).toString('hex')`);
for (const a of ["'sha256', 'key', 'salt', 'info', 42", "'sha512', Buffer.from('k'), '', '', 64", "'sha1', 'k', 's', 'i', 0", "'nope', 'k', 's', 'i', 5", "'sha1', 'k', 's', 'i', 99999", "'sha256', 'k', 's', 'i'.repeat(1025), 5", "'sha256', 'k', 's', 'i', -1"]) add(`Buffer.from(crypto.hkdfSync(${a})).toString('hex')`);
add("await new Promise((r) => crypto.pbkdf2('p', 's', 10, 8, 'sha256', (e, k) => r([e, k.toString('hex')])))");
add("await new Promise((r) => crypto.hkdf('sha256', 'k', 's', 'i', 8, (e, k) => r([e, Buffer.from(k).toString('hex')])))");
export default out;
