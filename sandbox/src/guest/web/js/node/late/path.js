// `path`, of POSIX.
(function (lib) {
  const { charCodeAt, slice, lastIndexOf, endsWith, needString, needObject, list, append, joinList, split } = lib;

  const SLASH = 47;
  const isAt = (path, i) => charCodeAt(path, i) === SLASH;
  // Segments without `.`, and without `..` as far as there is a segment for it to take away.
  const fold = (path, isAbsolute) => {
    const parts = split(path, "/");
    const kept = list();
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      if (part === "" || part === ".") continue;
      if (part === ".." && kept.length > 0 && kept[kept.length - 1] !== "..") kept.length -= 1;
      else if (part !== ".." || !isAbsolute) append(kept, part);
    }
    return joinList(kept, "/");
  };
  // The end of a path without the slashes behind its last segment; zero when there is no segment.
  const trimmedEnd = (path) => {
    let end = path.length;
    while (end > 0 && isAt(path, end - 1)) end--;
    return end;
  };
  const normalize = (path) => {
    needString(path, "path");
    if (path.length === 0) return ".";
    const isAbsolute = isAt(path, 0);
    const folded = fold(path, isAbsolute);
    if (folded === "") return isAbsolute ? "/" : isAt(path, path.length - 1) ? "./" : ".";
    return (isAbsolute ? "/" : "") + folded + (isAt(path, path.length - 1) ? "/" : "");
  };
  // Everything is resolved against the root: there is no other directory.
  const resolve = (paths) => {
    let joined = "";
    let isAbsolute = false;
    for (let i = paths.length - 1; i >= 0 && !isAbsolute; i--) {
      needString(paths[i], "paths[" + i + "]");
      if (paths[i].length === 0) continue;
      joined = paths[i] + "/" + joined;
      isAbsolute = isAt(paths[i], 0);
    }
    return "/" + fold(joined, true);
  };
  const dirname = (path) => {
    needString(path, "path");
    if (path.length === 0) return ".";
    const end = trimmedEnd(path);
    if (end === 0) return isAt(path, 0) ? "/" : ".";
    const at = lastIndexOf(slice(path, 0, end), "/");
    if (at < 0) return ".";
    if (at === 0) return "/";
    // Two slashes at the start stay when nothing but them is left.
    return at === 1 && isAt(path, 0) ? "//" : slice(path, 0, at);
  };
  const lastSegment = (path) => {
    const end = trimmedEnd(path);
    const whole = slice(path, 0, end);
    return slice(whole, lastIndexOf(whole, "/") + 1);
  };
  const basename = (path, suffix) => {
    if (suffix !== undefined) needString(suffix, "suffix");
    needString(path, "path");
    const name = lastSegment(path);
    if (suffix === undefined || suffix === "" || suffix.length > path.length) return name;
    if (suffix === path) return "";
    // As Node has it: where the name is used up before the suffix, the slashes behind it are part of it.
    if (name.length < suffix.length && endsWith(suffix, name)) return slice(path, trimmedEnd(path) - name.length);
    return name !== suffix && endsWith(name, suffix) ? slice(name, 0, name.length - suffix.length) : name;
  };
  const extensionOf = (name) => {
    const dot = lastIndexOf(name, ".");
    return dot <= 0 || name === ".." ? "" : slice(name, dot);
  };
  const relative = (from, to) => {
    needString(from, "from");
    needString(to, "to");
    if (from === to) return "";
    const source = split(resolve([from]), "/"), target = split(resolve([to]), "/");
    if (source[source.length - 1] === "") source.length -= 1;
    if (target[target.length - 1] === "") target.length -= 1;
    let common = 0;
    while (common < source.length && common < target.length && source[common] === target[common]) common++;
    const parts = list();
    for (let i = common; i < source.length; i++) append(parts, "..");
    for (let i = common; i < target.length; i++) append(parts, target[i]);
    return joinList(parts, "/");
  };

  const path = {
    resolve(...paths) {
      return resolve(paths);
    },
    normalize(path) {
      return normalize(path);
    },
    isAbsolute(path) {
      needString(path, "path");
      return path.length > 0 && isAt(path, 0);
    },
    join(...paths) {
      let joined = "";
      for (let i = 0; i < paths.length; i++) {
        needString(paths[i], "path");
        if (paths[i].length > 0) joined = joined === "" ? paths[i] : joined + "/" + paths[i];
      }
      return joined === "" ? "." : normalize(joined);
    },
    relative(from, to) {
      return relative(from, to);
    },
    toNamespacedPath(path) {
      return path;
    },
    dirname(path) {
      return dirname(path);
    },
    basename(path, suffix) {
      return basename(path, suffix);
    },
    extname(path) {
      needString(path, "path");
      return extensionOf(lastSegment(path));
    },
    format(pathObject) {
      needObject(pathObject, "pathObject");
      const dir = pathObject.dir || pathObject.root;
      const extension = pathObject.ext;
      const base = pathObject.base || "" + (pathObject.name || "") + (extension ? (extension[0] === "." ? "" : ".") + extension : "");
      if (!dir) return base;
      return dir === pathObject.root ? "" + dir + base : dir + "/" + base;
    },
    parse(path) {
      needString(path, "path");
      const root = path.length > 0 && isAt(path, 0) ? "/" : "";
      const base = lastSegment(path);
      const end = trimmedEnd(path) - base.length;
      // As Node has it: directly below the root the second dot of `..` starts an extension.
      const ext = root === "/" && end === 1 && base === ".." ? "." : extensionOf(base);
      const dir = base === "" ? root : end > 1 ? slice(path, 0, end - 1) : root;
      return { root, dir, base, ext, name: ext === "" ? base : slice(base, 0, base.length - ext.length) };
    },
    sep: "/",
    delimiter: ":",
    posix: null,
  };
  path.posix = path;
  return { __proto__: null, ...path, default: path };
});
