const out = [];
const strings = ["", "a", "ab", "abc", "\0\xff", "é", "€", "\u0100", "a b", "\ud800", "hello world"];
for (const s of strings) out.push(`return btoa(${JSON.stringify(s)})`);
const encoded = ["", "YQ==", "YQ=", "YQ", "Y", "YWI=", "YWJj", " Y Q = = ", "YQ==\n", "\tYQ\f==", "YQ===", "=", "==", "====", "Y=Q=", "YR==", "YQ==YQ==", "a-_b", "a+/b", "ab\u00a0cd", "ab\u000bcd", "€", "A", "AA", "AAA", "AAAA", "AAAAA", "/A", "=YQ=", "Y Q", "YQ= ="];
for (const s of encoded) out.push(`return atob(${JSON.stringify(s)})`);
for (const v of ["undefined", "null", "1", "12", "[]", "{}", "true", "1.5", "Symbol()", "1n", "{toString() { return 'YQ' }}", "NaN", "'x'.repeat(1000)"]) out.push(`return btoa(${v})`, `return atob(${v})`);
out.push("return btoa()", "return atob()", "return [atob.length, btoa.length, atob.name, btoa.name]");
for (let n = 0; n < 256; n += 5) out.push(`return btoa(String.fromCharCode(${n}, ${255 - n}, ${(n * 7) % 256}))`, `return atob(btoa(String.fromCharCode(${n}, ${n}))).charCodeAt(1)`);
export default out;
