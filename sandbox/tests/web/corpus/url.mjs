const out = [];
const J = JSON.stringify;
const parts = "[u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash]";
// Parsing, alone and against bases.
const inputs = ["https://example.com", "HTTPS://EXAMPLE.com:443/a/../b/./c?q#f", "http://user:pa%20ss@h:8080/p", "http://h:80/", "//x/y", "/abs", "rel", "../up", "?q=1", "#f", "", " ", "mailto:a@b", "data:text/plain,hello world#x",
  "javascript:alert(1)", "blob:https://h/uuid", "blob:nope", "ftp://h:21/f", "ws://h:80/", "wss://h:443/x", "file:///etc/passwd", "file:etc", "urn:isbn:1", "about:blank", "foo://h/p", "foo://h", "foo:/p", "foo:p", "http:x", "http:/x", "http:\\\\h\\p",
  "https://é.example/ü?ñ=€#ß", "https://xn--9ca.example/", "https://a_b/", "https://a b/", "https://[::1]/", "https://[::1]:8/", "https://[1:2::7]/", "https://[::ffff:1.2.3.4]", "https://[:::1]", "https://127.1/", "https://0x7f.1/", "https://256.1.1.1/", "https://1.2.3.4.5/",
  "https://h:99999/", "https://h:0/", "https://h:/", "https://h:a/", "https://@h/", "https://u@/", "https://:p@h/", "https://u:@h/", "https://a@b@c/", "https://h/%zz%41%", "https://h/a%2fb/%2e%2e/c", "https://h/a//b", "https://h/a b\tc\nd", "  https://h/ ", "https://h/'\"<>`{}|^", "https://h/?'\"<>`{}|^",
  "https://h/#'\"<>`{}|^", "https://h?", "https://h#", "https://h/?#", "https://h/\ud800", "https://\ud800/", "https://h/😀?😀#😀", "https://%41/", "https://%zz/", "https://%00/", "https://h\u00ad/", "https://ß/", "https://faß.de", "https://☃.net/", "https:///h", "https:////h", "https:", "https://", "://h", "1http://h", "a+b-c.d://h/",
  "https://h/a?b?c#d#e", "https://h/a#b?c", "https://h/;a;b,c", "https://h/~user/", "https://h/a\\b", "foo://h/a\\b", "foo://H/", "foo://é/", "https://h./", "https://.h/", "https://h../", "https://1e2/", "https://0/", "https://0x/", "https://4294967295/", "https://4294967296/", "https://%30%78%63%30/", "non-spec:/.//p", "https://ex%41mple/", "https://a%20b/", "null", "C:\\x"];
const bases = [undefined, "https://base.example/dir/file?bq#bf", "foo://b/dir/file", "data:x", "file:///dir/file", "mailto:x", "nope"];
for (const input of inputs) for (const base of bases) {
  const args = base === undefined ? J(input) : `${J(input)}, ${J(base)}`;
  out.push(`const u = new URL(${args}); return ${parts}`, `return URL.canParse(${args})`);
}
// Setters.
const targets = ["https://user:pw@example.com:8080/p/q?a=1#h", "http://h/", "mailto:a@b", "foo://h:1/p?q", "foo:p", "file:///d/f", "data:x?y#z", "javascript:a"];
const values = { protocol: ["http", "https:", "ftp", "foo", "file", "ws:x", "", "1", "é", "h t", "HTTP"], username: ["", "x", "a:b@c", "é", "%41", "\ud800"], password: ["", "x", "a:b@c/", "é"],
  host: ["", "x", "x:1", "x:80", "x:443", "é.de", "[::1]:9", "a/b", "a?b", "a#b", "a@b", "x:", "x:y", "x:99999", " x", "1.2", "a b", "\\x"], hostname: ["", "x", "x:1", "[::1]", "a/b", "é", "1.2", "%41", "a b"],
  port: ["", "1", "80", "443", "0", "65535", "65536", "1x", "x", "-1", " 1", "8\t0", "1.5"], pathname: ["", "x", "/x", "a/../b", "é ?#", "//x", "\\x", "%2e%2e/y", "."], search: ["", "?", "x", "?x=1&y", "é #", "'\"<>", "??", "\ud800"], hash: ["", "#", "x", "#x", "é <>", "##", "`"],
  href: ["https://new/?n=1#n", "rel", "", "foo:bar", "  https://t/  "] };
for (const target of targets) for (const [member, list] of Object.entries(values)) for (const value of list) {
  out.push(`const u = new URL(${J(target)}); const p = u.searchParams; u.${member} = ${J(value)}; return [${parts}, p.toString(), p === u.searchParams]`);
}
for (const member of Object.keys(values)) for (const value of ["null", "undefined", "5", "{toString() { return '7' }}", "Symbol()", "[]", "true"]) out.push(`const u = new URL('https://h:1/p?q#f'); u.${member} = ${value}; return ${parts}`);
out.push("const u = new URL('https://h/'); u.origin = 'x'; return u.origin", "const u = new URL('https://h/?a=1'); u.searchParams = 'x'; return u.href");
// Search parameters live.
for (const op of ["append('b', 'é &')", "delete('a')", "set('a', '9')", "sort()", "delete('zz')", "append('', '')", "delete('a', '1')", "delete('a', 'no')", "get('a')", "size"]) {
  for (const href of ["https://h/?a=1&b=2&a=3#f", "https://h/?a=%7E~+x", "https://h/", "https://h/?", "https://h/?a=1", "data:x?a=1 #f", "foo:p?a", "mailto:x"]) {
    out.push(`const u = new URL(${J(href)}); const r = u.searchParams.${op}; return [r, u.href, u.search, [...u.searchParams]]`);
  }
}
out.push("const u = new URL('https://h/?a=1'); const p = u.searchParams; u.search = 'b=2'; return [[...p], p.get('b'), p === u.searchParams]");
out.push("const u = new URL('https://h/?a=1'); const p = u.searchParams; u.href = 'https://h/?c=3'; return [[...p], u.href]");
out.push("const u = new URL('https://h/?a=1'); const p = u.searchParams; try { u.href = 'nope' } catch (e) { return [e.name, [...p], u.href] }");
out.push("const u = new URL('https://h/?a=1&b=2&c=3'); const seen = []; for (const [k] of u.searchParams) { seen.push(k); if (k === 'a') u.search = 'x=1&y=2&z=3' } return seen");
out.push("const u = new URL('https://h/?a=1'); u.searchParams.append('b', '2'); u.hash = 'f'; return [u.href, u.search]");
out.push("const u = new URL('https://h/?a=1'); u.searchParams.append('b', '2'); u.pathname = '/p'; u.searchParams.append('c', '3'); return u.href");
out.push("const u = new URL('https://h/?a=1#x'); u.searchParams.delete('a'); return [u.href, u.search]");
out.push("const u = new URL('https://h/?a=1'); u.searchParams.append('b', '2'); return [JSON.stringify(u), String(u), u.toJSON(), `${u}`]");
out.push("const u = new URL('https://h/?a'); u.searchParams.sort(); return u.href", "const u = new URL('https://h/?z=1&a=2'); u.searchParams.sort(); u.search += '&q'; return [u.href, [...u.searchParams]]");
// The interface.
for (const call of ["new URL()", "URL('https://h/')", "new URL(undefined)", "new URL(null, 'https://h/')", "new URL('x', null)", "new URL('x', undefined)", "new URL({toString() { return 'https://ts/' }})", "new URL(new URL('https://u/?q'))", "new URL('r', new URL('https://u/d/'))", "new URL(Symbol())", "new URL('x', Symbol())",
  "new URL(['https://l/'])", "new URL(1)", "URL.canParse()", "URL.canParse(Symbol())", "URL.canParse('x', null)", "URL.canParse({toString() { throw new RangeError() }})", "new URL('a', {toString() { throw new RangeError() }})"]) out.push(`return String(${call})`);
out.push("return [URL.length, URL.name, URL.canParse.length, typeof URL.createObjectURL, Object.prototype.toString.call(new URL('a:b')), Object.keys(new URL('a:b'))]");
out.push("const names = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash', 'toString', 'toJSON']; return names.map((n) => { const d = Object.getOwnPropertyDescriptor(URL.prototype, n); return [typeof d.get, typeof d.set, typeof d.value, d.enumerable, d.configurable] })");
for (const member of ["href", "searchParams", "hash", "origin"]) out.push(`return Object.getOwnPropertyDescriptor(URL.prototype, '${member}').get.call({})`);
out.push("URL.prototype.toString.call({})", "Object.getOwnPropertyDescriptor(URL.prototype, 'hash').set.call({}, 'x')", "structuredClone(new URL('a:b'))", "structuredClone({a: [new URL('a:b')]})", "return JSON.stringify({u: new URL('https://h/a b')})", "class U extends URL { get href() { return 'mine' } } const u = new U('https://h/'); return [u.href, String(u), u instanceof URL, JSON.stringify(u)]");
export default out;
