// URLPattern (URL Pattern, 2). A native takes patterns and inputs apart; what a component matches is decided by the
// regular expressions that it gives, which are JavaScript's.
(function (lib) {
  const { define, defineProperty, expose, illegal, isObject, dictionary, usv, native, exec, slice, split, list, append, arrayOf, RegExp, TypeError } = lib;

  const names = ["protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"];
  // In the order in which Web IDL reads them.
  const members = ["baseURL", "hash", "hostname", "password", "pathname", "port", "protocol", "search", "username"];

  // `components` has, for each name, `{pattern, expression, groups}`: groups are the names of what the expression captures.
  let slots;
  class URLPattern {
    #slots;
    constructor(input = undefined, baseURL = undefined, options = undefined) {
      // With two arguments the second is the options, unless it can only be a text.
      const based = arguments.length > 2 || (baseURL !== undefined && baseURL !== null && !isObject(baseURL));
      const given = toInput(input);
      const base = based ? usv(baseURL) : undefined;
      const { ignoreCase } = dictionary(based ? options : baseURL, "options");
      this.#slots = compile(given, base, !!ignoreCase);
    }
    static {
      slots = (pattern) => {
        try {
          return pattern.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isURLPattern = (value) => isObject(value) && #slots in value;
    }
    get protocol() {
      return slots(this).components.protocol.pattern;
    }
    get username() {
      return slots(this).components.username.pattern;
    }
    get password() {
      return slots(this).components.password.pattern;
    }
    get hostname() {
      return slots(this).components.hostname.pattern;
    }
    get port() {
      return slots(this).components.port.pattern;
    }
    get pathname() {
      return slots(this).components.pathname.pattern;
    }
    get search() {
      return slots(this).components.search.pattern;
    }
    get hash() {
      return slots(this).components.hash.pattern;
    }
    get hasRegExpGroups() {
      return slots(this).hasRegExpGroups;
    }
    test(input = undefined, baseURL = undefined) {
      const { components } = slots(this);
      return match(components, toInput(input), baseURL === undefined ? undefined : usv(baseURL)) !== null;
    }
    exec(input = undefined, baseURL = undefined) {
      const { components } = slots(this);
      return match(components, toInput(input), baseURL === undefined ? undefined : usv(baseURL));
    }
  }
  // `(USVString or URLPatternInit)`: a text, or a record of texts.
  const toInput = (value) => {
    if (value !== undefined && value !== null && !isObject(value)) return usv(value);
    const record = { __proto__: null };
    if (value === undefined || value === null) return record;
    for (let i = 0; i < members.length; i++) {
      const member = value[members[i]];
      if (member !== undefined) record[members[i]] = usv(member);
    }
    return record;
  };
  const special = ["ftp", "file", "http", "https", "ws", "wss"];
  const matchesSpecial = (source) => {
    const expression = toExpression(source, "");
    for (let i = 0; i < special.length; i++) if (exec(expression, special[i]) !== null) return true;
    return false;
  };
  // The standard's flag is "v". The engine refuses under it some texts that are no syntax outside of a class, such as
  // "-" and "/"; "u" differs only in what a class may hold.
  const toExpression = (source, flags) => {
    try {
      return new RegExp(source, flags + "v");
    } catch {
      try {
        return new RegExp(source, flags + "u");
      } catch (error) {
        const shown = source.length > 200 ? slice(source, 0, 200) + "…" : source;
        throw new TypeError("Failed to construct 'URLPattern': " + shown + " is not a regular expression. " + error.message);
      }
    }
  };
  const compile = (input, base, ignoreCase) => {
    const compiled = native.compilePattern(input, base, ignoreCase, matchesSpecial);
    const state = { __proto__: null, components: { __proto__: null }, hasRegExpGroups: compiled.hasRegExpGroups };
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const { pattern, expression, groups } = compiled[name];
      const flags = ignoreCase && (name === "pathname" || name === "search" || name === "hash") ? "i" : "";
      state.components[name] = {
        __proto__: null,
        pattern,
        expression: expression === anything ? everything : toExpression(expression, flags),
        groups: groups === "" ? list() : split(groups, ","),
      };
    }
    return state;
  };
  // Most components of most patterns match whatever there is.
  const anything = "^(.*)$";
  const everything = new RegExp(anything, "v");

  const match = (components, input, base) => {
    const values = native.patternInput(input, base);
    if (values === undefined) return null;
    const parts = { __proto__: null };
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const { expression, groups } = components[name];
      const found = exec(expression, values[name]);
      if (found === null) return null;
      const captured = {};
      for (let j = 0; j < groups.length; j++) put(captured, groups[j], found[j + 1]);
      parts[name] = { input: values[name], groups: captured };
    }
    const inputs = list();
    append(inputs, typeof input === "string" ? input : shown(input));
    if (base !== undefined) append(inputs, base);
    return {
      inputs: arrayOf(inputs), protocol: parts.protocol, username: parts.username, password: parts.password, hostname: parts.hostname,
      port: parts.port, pathname: parts.pathname, search: parts.search, hash: parts.hash,
    };
  };
  const shown = (record) => {
    const object = {};
    for (let i = 0; i < members.length; i++) if (record[members[i]] !== undefined) put(object, members[i], record[members[i]]);
    return object;
  };
  const { put } = native;
  define(URLPattern, lib.isURLPattern);
  expose("URLPattern", URLPattern);
  defineProperty(URLPattern, "length", { __proto__: null, value: 0 });
});
