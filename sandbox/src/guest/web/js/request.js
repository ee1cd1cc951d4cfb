// Request (Fetch, 5.4).
(function (lib) {
  const {
    define, expose, illegal, isObject, need, dictionary, enumeration, usv, byteString, isToken, toUpperCase, extractBody, bytesBody, streamBody, isUnusable, cloneBody,
    bodyMixin, requestHeaders, headerSlots, findHeader, admitHeader, native, dependentOn, list, append, TypeError,
  } = lib;

  let slots;
  class Request {
    #slots;
    constructor(input, init = undefined) {
      if (input === lib.secret) {
        this.#slots = init;
        return;
      }
      need(arguments.length, 1, "constructor' on 'Request");
      this.#slots = make(input, init);
    }
    static {
      slots = (request) => {
        try {
          return request.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isRequest = (value) => isObject(value) && #slots in value;
    }
    get method() {
      return slots(this).method;
    }
    get url() {
      return slots(this).url;
    }
    get headers() {
      return slots(this).headers;
    }
    get destination() {
      slots(this);
      return "";
    }
    get referrer() {
      const { referrer } = slots(this);
      return referrer === "no-referrer" ? "" : referrer;
    }
    get referrerPolicy() {
      return slots(this).referrerPolicy;
    }
    get mode() {
      return slots(this).mode;
    }
    get credentials() {
      return slots(this).credentials;
    }
    get cache() {
      return slots(this).cache;
    }
    get redirect() {
      return slots(this).redirect;
    }
    get integrity() {
      return slots(this).integrity;
    }
    get keepalive() {
      return slots(this).keepalive;
    }
    get isReloadNavigation() {
      slots(this);
      return false;
    }
    get isHistoryNavigation() {
      slots(this);
      return false;
    }
    get signal() {
      return slots(this).signal;
    }
    get duplex() {
      slots(this);
      return "half";
    }
    clone() {
      const state = slots(this);
      if (isUnusable(state.body)) throw new TypeError("Cannot clone a request whose body is used or locked.");
      const copy = { ...state, __proto__: null, headers: lib.copyHeaders(state.headers), body: cloneBody(state.body), signal: follow(state.signal) };
      return new Request(lib.secret, copy);
    }
  }
  const follow = (signal) => {
    const signals = list();
    append(signals, signal);
    return dependentOn(signals);
  };
  const choices = {
    __proto__: null,
    cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
    credentials: ["omit", "same-origin", "include"],
    mode: ["navigate", "same-origin", "no-cors", "cors"],
    redirect: ["follow", "error", "manual"],
    referrerPolicy: ["", "no-referrer", "no-referrer-when-downgrade", "same-origin", "origin", "strict-origin", "origin-when-cross-origin", "strict-origin-when-cross-origin", "unsafe-url"],
  };
  const make = (input, init) => {
    const from = lib.isRequest(input) ? slots(input) : undefined;
    const address = from === undefined ? toAddress(usv(input)) : undefined;
    // Members are read in the order of their names.
    const given = dictionary(init, "init");
    const { body: givenBody } = given;
    const chosen = (name) => {
      const value = given[name];
      return value === undefined ? undefined : enumeration(value, choices[name], name);
    };
    const cache = chosen("cache");
    const credentials = chosen("credentials");
    const { duplex } = given;
    if (duplex !== undefined) enumeration(duplex, ["half"], "duplex");
    const { headers, integrity, keepalive, method } = given;
    const mode = chosen("mode");
    const { priority } = given;
    if (priority !== undefined) enumeration(priority, ["high", "low", "auto"], "priority");
    const redirect = chosen("redirect");
    const { referrer } = given;
    const referrerPolicy = chosen("referrerPolicy");
    const { signal, window } = given;
    if (window !== undefined && window !== null) throw new TypeError("'window' can only be null");
    if (mode === "navigate") throw new TypeError("The mode cannot be 'navigate'");
    const state = {
      __proto__: null,
      method: from?.method ?? "GET",
      url: from?.url ?? address.href,
      address: from?.address ?? address,
      headers: undefined,
      referrer: from?.referrer ?? "about:client",
      referrerPolicy: referrerPolicy ?? from?.referrerPolicy ?? "",
      mode: mode ?? from?.mode ?? "cors",
      credentials: credentials ?? from?.credentials ?? "same-origin",
      cache: cache ?? from?.cache ?? "default",
      redirect: redirect ?? from?.redirect ?? "follow",
      integrity: integrity === undefined ? (from?.integrity ?? "") : lib.toText(integrity),
      keepalive: keepalive === undefined ? (from?.keepalive ?? false) : !!keepalive,
      signal: undefined,
      body: null,
    };
    if (state.cache === "only-if-cached" && state.mode !== "same-origin") throw new TypeError("'only-if-cached' needs the mode 'same-origin'");
    if (referrer !== undefined) state.referrer = toReferrer(usv(referrer));
    if (method !== undefined) state.method = toMethod(byteString(method, "method"));
    let follows = from?.signal;
    if (signal !== undefined) {
      if (signal !== null && !lib.isAbortSignal(signal)) throw new TypeError("'signal' is not an AbortSignal");
      follows = signal ?? undefined;
    }
    const signals = list();
    if (follows !== undefined) append(signals, follows);
    state.signal = dependentOn(signals);
    const noCors = state.mode === "no-cors";
    if (noCors && state.method !== "GET" && state.method !== "HEAD" && state.method !== "POST") {
      throw new TypeError("'" + state.method + "' HTTP method is unsupported in no-cors mode.");
    }
    const inherits = headers === undefined && from !== undefined;
    state.headers = requestHeaders(inherits ? from.headers : headers, inherits, noCors);
    const hasBody = givenBody !== undefined && givenBody !== null;
    if ((hasBody || (givenBody === undefined && from !== undefined && from.body !== null)) && (state.method === "GET" || state.method === "HEAD")) {
      throw new TypeError("Request with a GET or HEAD method cannot have a body.");
    }
    if (hasBody) {
      const { body, type } = extractBody(givenBody, state.keepalive);
      const target = headerSlots(state.headers);
      if (type !== undefined && findHeader(target, "content-type") === null) admitHeader(target, "content-type", type);
      state.body = body;
    } else if (from !== undefined && from.body !== null && givenBody === undefined) {
      if (isUnusable(from.body)) throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
      state.body = takeBody(from.body);
    }
    return state;
  };
  // The body moves to the new request; the old one is used from then on.
  const takeBody = (body) => {
    const taken = body.stream === undefined ? bytesBody(body.bytes) : streamBody(lib.transformOf(body.stream).readable);
    taken.bytes = body.bytes;
    body.used = true;
    return taken;
  };
  const toAddress = (text) => {
    const address = native.address(text, "");
    if (address === undefined) throw new TypeError("Invalid URL: " + text);
    if (address.credentials) throw new TypeError("Request cannot be constructed from a URL that includes credentials.");
    return address;
  };
  const toReferrer = (text) => {
    if (text === "") return "no-referrer";
    const address = native.address(text, "");
    if (address === undefined) throw new TypeError("Invalid referrer: " + text);
    return address.href;
  };
  const toMethod = (text) => {
    const upper = toUpperCase(text);
    if (!isToken(text)) throw new TypeError("'" + text + "' is not a valid HTTP method.");
    if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK") throw new TypeError("'" + text + "' HTTP method is unsupported.");
    return upper === "DELETE" || upper === "GET" || upper === "HEAD" || upper === "OPTIONS" || upper === "POST" || upper === "PUT" ? upper : text;
  };
  // The stream's chunks through a new stream, which locks the old one.
  lib.transformOf = (stream) => {
    const through = lib.createTransform((chunk, emit) => emit(chunk), () => {});
    lib.handled(lib.pipe(stream, through.writable, { __proto__: null, preventAbort: false, preventCancel: false, preventClose: false, signal: undefined }));
    return through;
  };
  bodyMixin(Request, (request) => slots(request));
  define(Request, lib.isRequest);
  expose("Request", Request);
  lib.requestSlots = (request) => slots(request);
});
