// Node's modules by name. Their scripts are compiled with the others and evaluated when they are first asked for, which
// may be after a program has changed every prototype: they take what they use from `lib`, as all scripts do. Each
// returns an object without a prototype: its exports.
(function (lib) {
  const { native, apply, startsWith, slice, charCodeAt, exec, kindOf, isObject, getPrototypeOf } = lib;

  const loaded = { __proto__: null };
  // What the late script of this name returned, which it does once.
  const load = (lib.load = (name) => (loaded[name] ??= apply(native.lateScript(name), undefined, [lib])));

  const modules = {
    __proto__: null,
    "buffer": "node/late/buffer.js",
    "crypto": "node/late/crypto.js",
    "events": "node/late/events.js",
    "path": "node/late/path.js",
    "path/posix": "node/late/path-posix.js",
    "process": "node/late/process.js",
    "timers/promises": "node/late/timers.js",
    "url": "node/late/url.js",
    "util": "node/late/util.js",
    "util/types": "node/late/types.js",
  };
  // The exports of a module, `default` included; undefined when there is no such module.
  lib.nodeModule = (id) => {
    const file = modules[startsWith(id, "node:") ? slice(id, 5) : id];
    return file === undefined ? undefined : load(file);
  };

  // Classes and functions as they are before any program.
  lib.urlGlobals = { __proto__: null, URL: lib.global.URL, URLSearchParams: lib.global.URLSearchParams };
  lib.randomValues = lib.global.Crypto.prototype.getRandomValues;
  lib.instanceOf = (value, constructor) => {
    const { prototype } = constructor;
    for (let at = isObject(value) ? getPrototypeOf(value) : null; at !== null; at = getPrototypeOf(at)) if (at === prototype) return true;
    return false;
  };
  // What `util.inspect` and the console share.
  lib.isStackOverflow = (error) => kindOf(error) === "error" && error.message === "Maximum call stack size exceeded";
  // Whether an error is JSON's complaint about a value that contains itself.
  lib.isCycleError = (error) => kindOf(error) === "error" && error.name === "TypeError" && exec(/circular/, lib.toText(error.message)) !== null;
  // A text without the control sequences that colour it.
  lib.stripColors = (text) => {
    let result = "", from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code !== 0x1b && code !== 0x9b) continue;
      const found = exec(/^(?:\u001b\][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|[\u001b\u009b][[\]()#;?]*(?:[0-9]{1,4}(?:;[0-9]{0,4})*)?[0-9A-PR-TZcf-nq-uy=><~])/, slice(text, i, i + 4096));
      if (found === null) continue;
      result += slice(text, from, i);
      from = i + found[0].length;
      i = from - 1;
    }
    return from === 0 ? text : result + slice(text, from);
  };
  // What a console method writes; undefined when it writes nothing.
  lib.consoleText = (method, args) => load("node/late/console.js")[method](args);
  lib.inspectBuffer = (buffer, depth, context) => load("node/late/inspect.js").buffer(buffer, context);
});
