// URL (URL, 6.1). Addresses are parsed and changed by natives; what a getter shows is a field of their record.
(function (lib) {
  const { define, expose, illegal, isObject, need, usv, native, TypeError, Error } = lib;

  // `record` is what the native made: all that the getters show, and `query`, which is null where there is none. The
  // search parameters are made when they are asked for. When they have changed, `stale` says that the record has not.
  let slots;
  class URL {
    #slots;
    constructor(url, base = undefined) {
      if (url === lib.secret) {
        this.#slots = newSlots(base);
        return;
      }
      need(arguments.length, 1, "constructor' on 'URL");
      const record = parse(url, base);
      if (record === undefined) throw new TypeError("Invalid URL string.");
      this.#slots = newSlots(record);
    }
    static {
      slots = (url) => {
        try {
          return url.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isURL = (value) => isObject(value) && #slots in value;
    }
    static canParse(url, base = undefined) {
      need(arguments.length, 1, "canParse' on 'URL");
      const text = usv(url);
      return native.urlCanParse(text, base === undefined ? undefined : usv(base));
    }
    static parse(url, base = undefined) {
      need(arguments.length, 1, "parse' on 'URL");
      const record = parse(url, base);
      return record === undefined ? null : new URL(lib.secret, record);
    }
    // There is no store of blobs: an address could not be opened by anyone.
    static createObjectURL() {
      throw new Error("URL.createObjectURL() is not implemented");
    }
    static revokeObjectURL() {
      throw new Error("URL.revokeObjectURL() is not implemented");
    }
    get hash() {
      return read(this).hash;
    }
    set hash(value) {
      change(this, "hash", value);
    }
    get host() {
      return read(this).host;
    }
    set host(value) {
      change(this, "host", value);
    }
    get hostname() {
      return read(this).hostname;
    }
    set hostname(value) {
      change(this, "hostname", value);
    }
    get href() {
      return read(this).href;
    }
    set href(value) {
      const state = slots(this);
      const record = parse(value, undefined);
      if (record === undefined) throw new TypeError("Invalid URL string.");
      state.record = record;
      state.stale = false;
      refill(state);
    }
    get origin() {
      return read(this).origin;
    }
    get password() {
      return read(this).password;
    }
    set password(value) {
      change(this, "password", value);
    }
    get pathname() {
      return read(this).pathname;
    }
    set pathname(value) {
      change(this, "pathname", value);
    }
    get port() {
      return read(this).port;
    }
    set port(value) {
      change(this, "port", value);
    }
    get protocol() {
      return read(this).protocol;
    }
    set protocol(value) {
      change(this, "protocol", value);
    }
    get search() {
      return read(this).search;
    }
    set search(value) {
      change(this, "search", value);
      refill(slots(this));
    }
    get searchParams() {
      const state = slots(this);
      state.params ??= lib.newSearchParams(state.record.query ?? "", () => {
        state.stale = true;
      });
      return state.params;
    }
    get username() {
      return read(this).username;
    }
    set username(value) {
      change(this, "username", value);
    }
    toJSON() {
      return read(this).href;
    }
    toString() {
      return read(this).href;
    }
  }
  const newSlots = (record) => ({ __proto__: null, record, params: undefined, stale: false });
  const parse = (url, base) => {
    const text = usv(url);
    return native.urlParse(text, base === undefined ? undefined : usv(base));
  };
  // The record, with what the search parameters have become.
  const fresh = (state) => {
    if (state.stale) {
      const { record } = state;
      state.record = native.urlSet(record.href, "query", lib.searchParamsText(state.params)) ?? record;
      state.stale = false;
    }
    return state.record;
  };
  const read = (url) => fresh(slots(url));
  const change = (url, member, value) => {
    const state = slots(url);
    const text = usv(value);
    const record = fresh(state);
    state.record = native.urlSet(record.href, member, text) ?? record;
  };
  const refill = (state) => {
    if (state.params !== undefined) lib.refillSearchParams(state.params, state.record.query ?? "");
  };
  define(URL, lib.isURL);
  expose("URL", URL);

  // What the engine asks of a value of the result: the address of a URL, undefined for anything else.
  // What all getters show, by their names.
  lib.urlRecord = (url) => fresh(slots(url));
  lib.urlHref = (value) => (lib.isURL(value) ? fresh(slots(value)).href : undefined);
});
