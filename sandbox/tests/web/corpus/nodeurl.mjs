// node:url, value by value.
const out = [];
const add = (e) => out.push(`const url = (await import('node:url')).default; try { return ${e} } catch (e) { return [e.name, e.code, e.code && e.message] }`);
const urls = ["http://user:pass@host.com:8080/p/a/t/h?query=string#hash", "https://example.com", "https://example.com/", "HTTP://EXAMPLE.com/A?b=C#D", "https://ex.com/a b/c?d e#f g", "//host/path", "/path?x=1", "path/to", "?q=1", "#h", "", "mailto:a@b.c", "file:///etc/passwd", "file:///a/b%20c/d", "http://host", "http://host?x", "http://host#y", "http://a.com:80/x", "http://[::1]:3000/p", "http://host/a?b=1&b=2&c", "https://a.com/?a=%20b+c&d=%zz", "ftp://f.org/x", "ws://w/s", "javascript:alert(1)", "http://user@host/", "http://h/p;x=1?y=2", "http://h/é?ü#ñ", "http://host/a\\b", "data:text/plain,hi", "http://a.com/b/../c", "  http://trim.me/ ", "http://x.com/'q'", "xmpp:user@host"];
for (const u of urls) {
  const s = JSON.stringify(u);
  add(`JSON.stringify(url.parse(${s}))`);
  add(`JSON.stringify(url.parse(${s}, true).query)`);
  add(`url.parse(${s}, false, true).host`);
  add(`url.format(url.parse(${s}))`);
  add(`url.format(${s})`);
  add(`url.fileURLToPath(${s})`);
  if (URL.canParse(u)) add(`url.format(new URL(${s}), { fragment: false, search: false, auth: false })`);
  if (URL.canParse(u)) add(`url.format(new URL(${s}), { unicode: true })`);
  if (URL.canParse(u)) add(`JSON.stringify(url.urlToHttpOptions(new URL(${s})))`);
  for (const r of ["b", "/b", "../c", "?x=2", "#z", "//other/p", "http://abs/x", "./d/", ""]) add(`url.resolve(${s}, ${JSON.stringify(r)})`);
}
for (const u of ["/search?q={x}", "/a'b", "/a b", "/a@b?c", "/a?b@c", "//h{i}/p?q", "///a{b}", "/p\\q?r\\s", "/a?b?c", "/{a}#b", "/é^?`", " /a|b "]) {
  const s = JSON.stringify(u);
  add(`JSON.stringify([url.parse(${s}), url.parse(${s}, true).query, url.parse(${s}, false, true)])`);
  add(`url.format(url.parse(${s}))`);
}
for (const p of ["/a/b", "/a b", "/a%b", "/a?b#c", "/é", "/a\\b", "/", "/x/", "/a/../b", "/tab\\tx", "/[x]"]) add(`url.pathToFileURL(${JSON.stringify(p)}).href`);
for (const f of ["file:///a/b", "file:///a%20b", "file:///a%2fb", "file://host/x", "http://x/y", "file:///%E4%BD%A0", "nope", "file:///a?x#y", "file:///%zz"]) { add(`url.fileURLToPath(${JSON.stringify(f)})`); if (URL.canParse(f)) add(`url.fileURLToPath(new URL(${JSON.stringify(f)}))`); }
for (const v of ["undefined", "null", "5", "{}", "[]", "Symbol()"]) for (const f of ["parse", "format", "fileURLToPath", "pathToFileURL", "urlToHttpOptions"]) add(`url.${f}(${v})`);
for (const d of ["español.com", "xn--espaol-zwa.com", "中文.com", "example.com", "EXAMPLE.com", "xn--iñvalid.com", "", "xn--fiq228c.com", "faß.de", "127.1", "0x7F.1", "a b", "[::1]"]) { add(`url.domainToASCII(${JSON.stringify(d)})`); add(`url.domainToUnicode(${JSON.stringify(d)})`); }
for (const o of ["{ protocol: 'https', host: 'a.com', pathname: 'x', query: { a: 1, b: ['c', 'd'] } }", "{ protocol: 'http:', hostname: 'h', port: 8080, pathname: '/p', search: 'q=1', hash: 'z' }", "{ pathname: '/a?b#c' }", "{ host: 'x', auth: 'u:p' }", "{ protocol: 'mailto', pathname: 'a@b' }", "{ hostname: '::1', port: 5 }", "{ query: { x: true, y: null, z: 'a b' } }", "{ slashes: true, host: 'h', pathname: 'p' }"]) add(`url.format(${o})`);
add("[url.URL === URL, url.URLSearchParams === URLSearchParams]");
add("Object.keys(url).sort()");
export default out;
