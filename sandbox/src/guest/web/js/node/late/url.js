// `url`: the classes of the URL standard, addresses of files, and the older functions over the same parser's rules.
(function (lib) {
  const {
    native, isObject, list, append, joinList, split, slice, indexOf, lastIndexOf, startsWith, endsWith, replaceAll, toLowerCase, charCodeAt,
    exec, keysOf, isURL, urlRecord, decodeURIComponent, encodeURIComponent, isArray, needString, badType, coded, TypeError,
  } = lib;
  const { URL, URLSearchParams } = lib.urlGlobals;

  const fileUrl = (value) => {
    if (isURL(value)) return value;
    if (typeof value !== "string") throw badType("path", "of type string or an instance of URL", value);
    return newUrl(value);
  };
  const newUrl = (text) => {
    try {
      return new URL(text);
    } catch {
      const error = coded(TypeError, "ERR_INVALID_URL", "Invalid URL");
      lib.defineProperty(error, "input", { __proto__: null, value: text, writable: true, enumerable: true, configurable: true });
      throw error;
    }
  };
  const part = (url, name) => urlRecord(url)[name];

  const fileURLToPath = (value) => {
    const url = fileUrl(value);
    if (part(url, "protocol") !== "file:") throw coded(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    if (part(url, "hostname") !== "") throw coded(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
    const pathname = part(url, "pathname");
    if (exec(/%2f/i, pathname) !== null) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
    return decodeURIComponent(pathname);
  };
  // What a path has that an address gives another meaning.
  const encodedPath = (path) => {
    const marks = [["%", "%25"], ["\\", "%5C"], ["\n", "%0A"], ["\r", "%0D"], ["\t", "%09"], ["?", "%3F"], ["#", "%23"], ["[", "%5B"], ["]", "%5D"]];
    for (let i = 0; i < marks.length; i++) path = replaceAll(path, marks[i][0], marks[i][1]);
    return path;
  };
  const pathToFileURL = (path) => {
    needString(path, "path");
    const resolved = lib.load("node/late/path.js").resolve(path);
    const isFolder = endsWith(path, "/") && resolved !== "/";
    return new URL("file://" + encodedPath(isFolder ? resolved + "/" : resolved));
  };

  // The parts of an address by the older rules, which know no base and reject nothing but a bad port or host.
  const slashed = { __proto__: null, "http:": true, "https:": true, "ftp:": true, "gopher:": true, "file:": true, "ws:": true, "wss:": true };
  class Url {
    constructor() {
      this.protocol = null;
      this.slashes = null;
      this.auth = null;
      this.host = null;
      this.port = null;
      this.hostname = null;
      this.hash = null;
      this.search = null;
      this.query = null;
      this.pathname = null;
      this.path = null;
      this.href = null;
    }
    parse(text, parseQueryString, slashesDenoteHost) {
      return fill(this, text, parseQueryString, slashesDenoteHost);
    }
    format() {
      return formatParts(this);
    }
    resolve(relative) {
      return resolve(this, relative);
    }
    resolveObject(relative) {
      return resolveObject(this, parsed(relative));
    }
  }
  const escapes = { __proto__: null, 9: "%09", 10: "%0A", 13: "%0D", 32: "%20", 34: "%22", 39: "%27", 60: "%3C", 62: "%3E", 92: "%5C", 94: "%5E", 96: "%60", 123: "%7B", 124: "%7C", 125: "%7D" };
  const escaped = (text) => {
    let result = "";
    for (let i = 0; i < text.length; i++) result += escapes[charCodeAt(text, i)] ?? slice(text, i, i + 1);
    return result;
  };
  const backslashesAsSlashes = (text) => {
    const end = exec(/[?#]/, text)?.index ?? text.length;
    return replaceAll(slice(text, 0, end), "\\", "/") + slice(text, end);
  };
  const fill = (url, text, parseQueryString, slashesDenoteHost) => {
    needString(text, "url");
    let rest = backslashesAsSlashes(lib.trim(text));
    // A path without a host, credentials and fragment is taken as it is written.
    const simple = slashesDenoteHost || exec(/#|^[^?]*@/, rest) !== null ? null : exec(/^(\/\/?(?!\/)[^?\s]*)(\?\S*)?$/, rest);
    if (simple !== null) {
      url.path = url.href = rest;
      url.pathname = simple[1];
      if (simple[2] !== undefined) url.search = simple[2];
      const query = slice(simple[2] ?? "?", 1);
      if (parseQueryString) url.query = queryOf(query);
      else if (simple[2] !== undefined) url.query = query;
      return url;
    }
    const scheme = exec(/^[a-z0-9.+-]+:/i, rest);
    if (scheme !== null) {
      url.protocol = toLowerCase(scheme[0]);
      rest = slice(rest, scheme[0].length);
    }
    const isScript = url.protocol === "javascript:";
    const hasSlashes = startsWith(rest, "//") && (slashesDenoteHost || url.protocol !== null || exec(/^\/\/[^@/]+@[^@/]+/, rest) !== null);
    if (hasSlashes && !isScript) {
      url.slashes = true;
      rest = slice(rest, 2);
    }
    // Without slashes a host follows a scheme that is none of the usual ones.
    if (!isScript && (url.slashes === true || (url.protocol !== null && slashed[url.protocol] === undefined))) {
      const end = exec(/[/?#]/, rest)?.index ?? rest.length;
      const at = lastIndexOf(slice(rest, 0, end), "@");
      let host = slice(rest, at + 1, end);
      if (at >= 0) url.auth = decoded(slice(rest, 0, at));
      rest = slice(rest, end);
      const port = exec(/:([0-9]*)$/, host);
      if (port !== null) {
        if (port[1] !== "") url.port = port[1];
        host = slice(host, 0, port.index);
      }
      const isAddress = startsWith(host, "[") && endsWith(host, "]");
      if (!isAddress) {
        // A host ends where something stands that no host can have.
        const bad = exec(/[\t\n\r "%'<>\\^`{|}]/, host);
        if (bad !== null) {
          rest = "" + (startsWith(rest, "/") || bad.index === host.length ? "" : "/") + slice(host, bad.index) + rest;
          host = slice(host, 0, bad.index);
        }
        host = toLowerCase(host);
        if (exec(/[^\x00-\x7f]/, host) !== null) host = toAscii(host);
      }
      url.hostname = isAddress ? slice(host, 1, -1) : host;
      url.host = host + (url.port === null ? "" : ":" + url.port);
    }
    if (!isScript) rest = escaped(rest);
    const hash = indexOf(rest, "#");
    if (hash >= 0) {
      url.hash = slice(rest, hash);
      rest = slice(rest, 0, hash);
    }
    const mark = indexOf(rest, "?");
    if (mark >= 0) {
      url.search = slice(rest, mark);
      url.query = slice(rest, mark + 1);
      if (parseQueryString) url.query = queryOf(url.query);
      rest = slice(rest, 0, mark);
    } else if (parseQueryString) {
      url.search = null;
      url.query = { __proto__: null };
    }
    if (rest !== "") url.pathname = rest;
    if (url.pathname === null && slashed[url.protocol] && url.hostname) url.pathname = "/";
    if (url.pathname !== null || url.search !== null) url.path = "" + (url.pathname ?? "") + (url.search ?? "");
    url.href = formatParts(url);
    return url;
  };
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const queryOf = (text) => {
    const result = { __proto__: null };
    const parts = split(text, "&");
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === "") continue;
      const equals = indexOf(parts[i], "=");
      const key = decoded(replaceAll(equals < 0 ? parts[i] : slice(parts[i], 0, equals), "+", " "));
      const value = equals < 0 ? "" : decoded(replaceAll(slice(parts[i], equals + 1), "+", " "));
      const present = result[key];
      if (present === undefined) result[key] = value;
      else if (isArray(present)) native.put(present, present.length, value);
      else result[key] = [present, value];
    }
    return result;
  };
  const queryText = (query) => {
    const parts = list();
    const keys = keysOf(query);
    const text = (value) => (typeof value === "string" || typeof value === "bigint" || typeof value === "boolean" || (typeof value === "number" && lib.isFinite(value)) ? lib.toText(value) : "");
    for (let i = 0; i < keys.length; i++) {
      const value = query[keys[i]];
      const values = isArray(value) ? value : [value];
      for (let j = 0; j < values.length; j++) append(parts, encodeURIComponent(keys[i]) + "=" + encodeURIComponent(text(values[j])));
    }
    return joinList(parts, "&");
  };
  const formatParts = (url) => {
    let protocol = url.protocol || "";
    if (protocol !== "" && !endsWith(protocol, ":")) protocol += ":";
    let auth = url.auth || "";
    if (auth !== "") auth = replaceAll(encodeURIComponent(auth), "%3A", ":") + "@";
    let host = "";
    if (url.host) host = auth + url.host;
    else if (url.hostname) {
      const isAddress = indexOf(url.hostname, ":") >= 0 && !startsWith(url.hostname, "[");
      host = auth + (isAddress ? "[" + url.hostname + "]" : url.hostname) + (url.port ? ":" + url.port : "");
    }
    let pathname = url.pathname || "", hash = url.hash || "";
    let search = url.search || (isObject(url.query) ? queryText(url.query) : "");
    if (search !== "" && !startsWith(search, "?")) search = "?" + search;
    if (hash !== "" && !startsWith(hash, "#")) hash = "#" + hash;
    pathname = replaceAll(replaceAll(pathname, "#", "%23"), "?", "%3F");
    search = replaceAll(search, "#", "%23");
    if (url.slashes || slashed[protocol]) {
      if (url.slashes || host !== "") {
        if (pathname !== "" && !startsWith(pathname, "/")) pathname = "/" + pathname;
        host = "//" + host;
      } else if (protocol === "file:") host = "//";
    }
    return protocol + host + pathname + search + hash;
  };
  // Relative references by the older rules, as Node keeps them: default ports stay, nothing is encoded anew, and references
  // to what has no hierarchy have meanings of their own.
  const NAMES = ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"];
  const copyFrom = (target, source, first) => {
    for (let i = first; i < NAMES.length; i++) target[NAMES[i]] = source[NAMES[i]];
    return target;
  };
  const segmentsOf = (pathname) => (pathname ? split(pathname, "/") : list());
  const joined = (first, parts, from) => {
    const result = list();
    if (first !== undefined) append(result, first);
    for (let i = from; i < parts.length; i++) append(result, parts[i]);
    return result;
  };
  const resolveObject = (base, reference) => {
    const result = copyFrom(new Url(), base, 0), relative = copyFrom(new Url(), reference, 0);
    result.hash = relative.hash;
    if (relative.href !== "") {
      if (relative.slashes && !relative.protocol) {
        copyFrom(result, relative, 1);
        if (slashed[result.protocol] && result.hostname && !result.pathname) result.pathname = "/";
      } else if (relative.protocol && relative.protocol !== result.protocol) changeScheme(result, relative);
      else changePath(result, relative);
    }
    if (result.pathname !== null || result.search !== null) result.path = (result.pathname || "") + (result.search || "");
    result.href = formatParts(result);
    return result;
  };
  const changeScheme = (result, relative) => {
    if (!slashed[relative.protocol]) {
      copyFrom(result, relative, 0);
      return;
    }
    let { host, pathname } = relative;
    if (!host && relative.protocol !== "file:") {
      // The first segment that is one stands for the host.
      const parts = split(pathname || "", "/");
      let at = 0;
      while (at < parts.length && !host) host = parts[at++];
      const rest = joined(undefined, parts, at);
      pathname = (rest.length > 1 && rest[0] === "" ? "" : "/") + joinList(rest, "/");
    }
    result.protocol = relative.protocol;
    result.pathname = pathname;
    result.search = relative.search;
    result.query = relative.query;
    result.host = host || "";
    result.auth = relative.auth;
    result.hostname = relative.hostname || host;
    result.port = relative.port;
    result.slashes = result.slashes || relative.slashes;
  };
  const changePath = (result, relative) => {
    const isAbsolute = (path) => !!path && startsWith(path, "/");
    const isRooted = !!relative.host || isAbsolute(relative.pathname);
    const endsRooted = isRooted || isAbsolute(result.pathname) || !!(result.host && relative.pathname);
    let mustEndRooted = endsRooted;
    let source = segmentsOf(result.pathname), target = segmentsOf(relative.pathname);
    // Without a hierarchy the host is the first segment for as long as segments are counted.
    const isFlat = !!result.protocol && !slashed[result.protocol];
    if (isFlat) {
      if (result.host) source = joined(result.host, source, source[0] === "" ? 1 : 0);
      result.host = result.hostname = "";
      result.port = null;
      if (relative.protocol) {
        if (relative.host) target = joined(relative.host, target, target[0] === "" ? 1 : 0);
        relative.host = relative.hostname = relative.port = result.auth = null;
      }
      mustEndRooted = mustEndRooted && (target[0] === "" || source[0] === "");
    }
    const hostFrom = (host) => {
      const at = indexOf(host, "@");
      if (at > 0) result.auth = slice(host, 0, at);
      result.host = result.hostname = at > 0 ? slice(host, at + 1) : host;
    };
    if (isRooted) {
      if (typeof relative.host === "string") {
        if (result.host !== relative.host) result.auth = null;
        result.host = relative.host;
        result.port = relative.port;
      }
      if (typeof relative.hostname === "string") {
        if (result.hostname !== relative.hostname) result.auth = null;
        result.hostname = relative.hostname;
      }
      source = target;
    } else if (target.length > 0) {
      const kept = list();
      for (let i = 0; i < source.length - 1; i++) append(kept, source[i]);
      for (let i = 0; i < target.length; i++) append(kept, target[i]);
      source = kept;
    } else if (relative.search != null) {
      if (isFlat && source.length > 0) hostFrom(source[0]);
      result.search = relative.search;
      result.query = relative.query;
      return;
    }
    if (isRooted || target.length > 0) {
      result.search = relative.search;
      result.query = relative.query;
    }
    if (source.length === 0) {
      result.pathname = null;
      return;
    }
    const last = source[source.length - 1];
    const endsInSlash = last === "" || ((last === "." || last === "..") && !!(result.host || relative.host || source.length > 1));
    // From the end, so that each `..` takes away the segment in front of it.
    const reversed = list();
    let up = 0;
    for (let i = source.length - 1; i >= 0; i--) {
      if (source[i] === "..") up++;
      else if (source[i] === ".") continue;
      else if (up > 0) up--;
      else append(reversed, source[i]);
    }
    let path = list();
    if (!mustEndRooted && !endsRooted) for (; up > 0; up--) append(path, "..");
    for (let i = reversed.length - 1; i >= 0; i--) append(path, reversed[i]);
    if (mustEndRooted && path[0] !== "") path = joined("", path, 0);
    if (endsInSlash && !endsWith(joinList(path, "/"), "/")) append(path, "");
    const startsRooted = path[0] === "";
    if (isFlat) {
      hostFrom(startsRooted || path.length === 0 ? "" : path[0]);
      if (!startsRooted) path = joined(undefined, path, 1);
    }
    if ((mustEndRooted || (result.host && path.length > 0)) && !startsRooted) path = joined("", path, 0);
    result.pathname = path.length === 0 ? null : joinList(path, "/");
    result.auth = relative.auth || result.auth;
    result.slashes = result.slashes || relative.slashes;
  };
  const parsed = (url) => (isObject(url) && lib.instanceOf(url, Url) ? url : fill(new Url(), url, false, true));
  const resolve = (from, to) => formatParts(resolveObject(parsed(from), parsed(to)));
  const toAscii = (domain) => {
    const record = native.urlParse("ws://" + domain, undefined);
    return record === undefined ? "" : record.hostname;
  };
  const formatUrl = (url, options) => {
    const { auth = true, fragment = true, search = true, unicode = false } = options ?? {};
    const record = urlRecord(url);
    const password = record.password === "" ? "" : ":" + record.password;
    const user = auth && (record.username !== "" || password !== "") ? record.username + password + "@" : "";
    const port = record.port === "" ? "" : ":" + record.port;
    const host = unicode && !startsWith(record.hostname, "[") ? native.domainToUnicode(record.hostname) + port : record.host;
    const slashes = startsWith(slice(record.href, record.protocol.length), "//") ? "//" : "";
    return record.protocol + slashes + user + host + record.pathname + (search ? record.search : "") + (fragment ? record.hash : "");
  };
  const decodedPart = (text) => (text === "" ? text : decodeURIComponent(text));

  const url = {
    URL,
    URLSearchParams,
    domainToASCII(domain) {
      return toAscii(lib.toText(domain));
    },
    domainToUnicode(domain) {
      const host = toAscii(lib.toText(domain));
      // Numbers are no domain.
      return native.domainToUnicode(host) || host;
    },
    fileURLToPath(path) {
      return fileURLToPath(path);
    },
    pathToFileURL(path) {
      return pathToFileURL(path);
    },
    urlToHttpOptions(url) {
      const { protocol, hostname, hash, search, pathname, href, port, username, password } = isURL(url) ? urlRecord(url) : url;
      const options = {
        __proto__: null,
        ...url,
        protocol,
        hostname: hostname && startsWith(hostname, "[") ? slice(hostname, 1, -1) : hostname,
        hash,
        search,
        pathname,
        path: "" + (pathname || "") + (search || ""),
        href,
      };
      if (port !== "") options.port = +port;
      if (username || password) options.auth = decodedPart(username) + ":" + decodedPart(password);
      return options;
    },
    Url,
    parse(url, parseQueryString, slashesDenoteHost) {
      return isObject(url) && lib.instanceOf(url, Url) ? url : fill(new Url(), url, parseQueryString, slashesDenoteHost);
    },
    format(urlObject, options) {
      if (typeof urlObject === "string") return formatParts(fill(new Url(), urlObject));
      if (typeof urlObject !== "object" || urlObject === null) throw badType("urlObject", "one of type object or string", urlObject);
      return isURL(urlObject) ? formatUrl(urlObject, options) : formatParts(urlObject);
    },
    resolve(from, to) {
      return resolve(from, to);
    },
    resolveObject(from, to) {
      return from ? resolveObject(parsed(from), parsed(to)) : to;
    },
  };
  return { __proto__: null, ...url, default: url };
});
