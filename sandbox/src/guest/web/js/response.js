// Response (Fetch, 5.5).
(function (lib) {
  const {
    define, expose, illegal, isObject, need, dictionary, byteString, extractBody, isUnusable, cloneBody, bodyMixin, newHeaders, copyHeaders, headerSlots, findHeader,
    putHeader, native, usv, jsonText, charCodeAt, RangeError, TypeError,
  } = lib;

  let slots;
  class Response {
    #slots = { __proto__: null, type: "default", url: "", redirected: false, status: 200, statusText: "", headers: undefined, body: null };
    constructor(body = null, init = undefined) {
      if (body === lib.secret) {
        this.#slots = init;
        return;
      }
      const extracted = body === null || body === undefined ? undefined : extractBody(body);
      initialize(this.#slots, init, extracted);
    }
    static {
      slots = (response) => {
        try {
          return response.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isResponse = (value) => isObject(value) && #slots in value;
    }
    static error() {
      return newResponse({ type: "error", status: 0, headers: immutable(newHeaders()) });
    }
    static json(data, init = undefined) {
      need(arguments.length, 1, "json' on 'Response");
      const text = jsonText(data);
      if (text === undefined) throw new TypeError("The value cannot be written as JSON.");
      const { body } = extractBody(text);
      const response = new Response();
      initialize(slots(response), init, { body, type: "application/json" });
      return response;
    }
    static redirect(url, status = 302) {
      need(arguments.length, 1, "redirect' on 'Response");
      const address = native.address(usv(url), "");
      if (address === undefined) throw new TypeError("Invalid URL: " + url);
      const code = +status & 0xffff;
      if (!isRedirect(code)) throw new RangeError("Invalid status code " + code + " for a redirect.");
      const headers = newHeaders();
      putHeader(headerSlots(headers), "location", address.href);
      return newResponse({ status: code, headers: immutable(headers) });
    }
    get type() {
      return slots(this).type;
    }
    get url() {
      return slots(this).url;
    }
    get redirected() {
      return slots(this).redirected;
    }
    get status() {
      return slots(this).status;
    }
    get ok() {
      const { status } = slots(this);
      return status >= 200 && status <= 299;
    }
    get statusText() {
      return slots(this).statusText;
    }
    get headers() {
      return slots(this).headers;
    }
    clone() {
      const state = slots(this);
      if (isUnusable(state.body)) throw new TypeError("Cannot clone a response whose body is used or locked.");
      const headers = copyHeaders(state.headers);
      headerSlots(headers).immutable = headerSlots(state.headers).immutable;
      return newResponse({ ...state, headers, body: cloneBody(state.body) });
    }
  }
  const isRedirect = (lib.isRedirect = (status) => status === 301 || status === 302 || status === 303 || status === 307 || status === 308);
  const immutable = (headers) => {
    headerSlots(headers).immutable = true;
    return headers;
  };
  // A response of ours; members that are not given are those of a plain one.
  const newResponse = (lib.newResponse = (given) => new Response(lib.secret, {
    __proto__: null, type: "default", url: "", redirected: false, status: 200, statusText: "", headers: undefined, body: null, ...given,
  }));
  const initialize = (state, init, extracted) => {
    const { headers, status = 200, statusText = "" } = dictionary(init, "init");
    const text = byteString(statusText, "statusText");
    const code = +status & 0xffff;
    if (code < 200 || code > 599) throw new RangeError("Responses may only be constructed with status codes in the range 200 to 599, inclusive.");
    for (let i = 0; i < text.length; i++) {
      const unit = charCodeAt(text, i);
      if (unit !== 9 && (unit < 0x20 || unit === 0x7f)) throw new TypeError("Invalid statusText");
    }
    state.status = code;
    state.statusText = text;
    state.headers = newHeaders(headers);
    if (extracted === undefined) return;
    if (code === 204 || code === 205 || code === 304) throw new TypeError("Response with null body status (" + code + ") cannot have body.");
    state.body = extracted.body;
    const target = headerSlots(state.headers);
    if (extracted.type !== undefined && findHeader(target, "content-type") === null) putHeader(target, "content-type", extracted.type);
  };
  bodyMixin(Response, (response) => slots(response));
  define(Response, lib.isResponse);
  expose("Response", Response);
  lib.freezeHeaders = immutable;
});
