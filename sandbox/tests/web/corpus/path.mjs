// node:path, value by value.
const out = [];
const add = (e) => out.push(`const path = (await import('node:path')).default; try { return ${e} } catch (e) { return [e.name, e.code, e.code && e.message] }`);
const paths = ["", ".", "..", "/", "//", "///", "a", "a/", "/a", "/a/", "a/b", "a//b", "/a/b/", "./a", "../a", "a/..", "a/../b", "a/./b", "/..", "/../a", "a/b/../../..", "../../x/..", "a.txt", "a.b.c", ".a", ".a.b", "..a", "a.", "a..", "/x/a.tar.gz", "/x/.bashrc", "/x/y/", "x/y//", "//a", "//a//b", "file", "/a/b.c/d", " a ", "a\\b", "C:\\x\\y", "ü/é.ñ", "/a/../..", "a/b/c/../d/./e/", "...", "/...", "a/...", "/.", "./", "../", "/a/.", "/a/..", "b.js/", "//"];
for (const p of paths) {
  const s = JSON.stringify(p);
  for (const f of ["normalize", "dirname", "basename", "extname", "parse", "isAbsolute", "toNamespacedPath"]) add(`path.${f}(${s})`);
  for (const x of [".txt", ".gz", "", "a", "b", "/", "file", ".", ".b.c", "a.txt", "x/y", "..a"]) add(`path.basename(${s}, ${JSON.stringify(x)})`);
  add(`path.format(path.parse(${s}))`);
  add(`path.resolve('/root', ${s})`);
  for (const q of paths) {
    const t = JSON.stringify(q);
    add(`path.join(${s}, ${t})`);
    add(`path.resolve('/r/s', ${s}, ${t})`);
    if (p.length % 3 === 0) add(`path.relative('/' + ${s}, '/' + ${t})`);
  }
}
for (const v of ["null", "undefined", "5", "{}", "[]", "true", "Symbol()", "() => 1", "new Date(0)"]) for (const f of ["normalize", "dirname", "basename", "extname", "parse", "isAbsolute", "toNamespacedPath", "join", "resolve", "format"]) add(`path.${f}(${v})`);
for (const o of ["{}", "{ dir: '/a', base: 'b' }", "{ root: '/', base: 'b' }", "{ root: '/', dir: '/', base: 'b' }", "{ dir: 'a', name: 'n', ext: 'e' }", "{ name: 'n', ext: '.e' }", "{ root: 'r', name: 'n' }", "{ dir: 'd' }", "{ base: 'b', name: 'n' }"]) add(`path.format(${o})`);
add("path.join()");
add("path.join('a', null)");
add("path.resolve('/a', 5)");
add("path.relative('/a', 5)");
add("path.basename('a', 5)");
add("[path.sep, path.delimiter, path.posix === path, path.join.length, path.join.name]");
add("path.relative('/a/b/c', '/a/d')");
add("path.relative('/a/bc', '/a/b')");
add("path.relative('/', '/a')");
add("path.relative('/a', '/')");
export default out;
