// `fetch` (Fetch, 5.6). The network belongs to the host: each request is one call of its hook, redirects are followed here.
(function (lib) {
  const {
    expose, native, apply, settle, rejected, react, list, append, arrayOf, requestSlots, newResponse, newHeaders, headerSlots, findHeader,
    putHeader, removeHeader, freezeHeaders, isRedirect, readBody, bytesBody, onAbort, abortState, parseMime, mimeText, fetchHook, startsWith, rethrow,
    readable, copyHeaders, abortBody, exec, indexOfList, replaceAll, charCodeAt, toUpperCase, numberText, TypeError,
  } = lib;
  const { Request } = lib.global;
  const MOST_REDIRECTS = 20;

  const { fetch } = {
    fetch(input, init = undefined) {
      if (arguments.length === 0) return rejected(new TypeError("Failed to execute 'fetch': 1 argument required, but only 0 present."));
      let request;
      try {
        request = requestSlots(new Request(input, init));
      } catch (error) {
        return rejected(error);
      }
      const { signal } = request;
      if (abortState(signal).aborted) {
        const { reason } = abortState(signal);
        if (request.body !== null && request.body.stream !== undefined) lib.handled(readable.cancelStream(request.body.stream, reason));
        return rejected(reason);
      }
      const { promise, resolve, reject } = settle();
      const forget = onAbort(signal, () => reject(abortState(signal).reason));
      react(perform(request), ({ response, body }) => {
        forget();
        if (request.integrity !== "" && !hasIntegrity(body, request.integrity)) {
          reject(new TypeError("The response does not have the integrity that the request asks for: " + request.integrity));
          return;
        }
        // Until it is read, the body is the signal's to take away.
        if (body !== null && abortState(signal).sources.length > 0) body.forget = onAbort(signal, () => abortBody(body, abortState(signal).reason));
        resolve(response);
      }, (error) => {
        forget();
        reject(error);
      });
      return promise;
    },
  };
  expose("fetch", fetch, true);

  // A promise of `{response, body}`, which inherits nothing: a promise that is resolved with a response asks it for `then`.
  const perform = (request) => {
    const { scheme } = request.address;
    if (scheme === "data") return resolveData(request);
    if (scheme !== "http" && scheme !== "https") return rejected(new TypeError("Fetch API cannot load: " + request.url));
    if (request.cache === "only-if-cached") return rejected(new TypeError("The request asks for a cached response, and there is no cache."));
    if (typeof fetchHook !== "function") return rejected(new TypeError(native.networkOff));
    return react(request.body === null ? null : readBody(request.body), (read) => hop({
      __proto__: null, method: request.method, address: request.address, headers: copyHeaders(request.headers), bytes: read === null ? null : read.bytes, mode: request.redirect,
      streamed: request.body !== null && request.body.bytes === undefined, signal: request.signal, redirects: 0,
    }), rethrow);
  };
  const resolveData = (request) => {
    const data = native.dataUrl(request.url);
    if (data === undefined) return rejected(new TypeError("Invalid data: URL: " + request.url));
    const written = startsWith(data.type, ";") ? "text/plain" + data.type : data.type;
    const mime = parseMime(written);
    const headers = newHeaders();
    putHeader(headerSlots(headers), "content-type", mime === undefined ? "text/plain;charset=US-ASCII" : mimeText(mime));
    return answered({
      __proto__: null, type: "basic", url: withoutHash(request.address), statusText: "OK", headers: freezeHeaders(headers),
      body: request.method === "HEAD" ? null : bytesBody(data.body),
    });
  };
  const answered = (given) => ({ __proto__: null, response: newResponse(given), body: given.body });
  // Whether the bytes have one of the strongest digests that are listed (Subresource Integrity, 3.3.5); lists without a
  // digest of a known kind ask for nothing.
  const hasIntegrity = (body, metadata) => {
    const item = /(?:^|[\t\n\f\r ])(sha256|sha384|sha512)-([\w+/-]+)={0,2}(?=[?\t\n\f\r ]|$)/g;
    let strongest = "";
    let wanted = list();
    for (let parts = exec(item, metadata); parts !== null; parts = exec(item, metadata)) {
      if (parts[1] < strongest) continue;
      if (parts[1] > strongest) wanted = list();
      strongest = parts[1];
      append(wanted, replaceAll(replaceAll(parts[2], "+", "-"), "/", "_"));
    }
    if (wanted.length === 0) return true;
    return body !== null && indexOfList(wanted, native.base64Url(native.digest(strongest, body.bytes))) !== -1;
  };
  const withoutHash = ({ href, hash }) => (hash === "" ? href : lib.slice(href, 0, href.length - hash.length));

  const hop = (request) => {
    const pairs = list();
    const { entries } = headerSlots(request.headers);
    for (let i = 0; i < entries.length; i++) append(pairs, [entries[i].key, entries[i].value]);
    const url = withoutHash(request.address);
    const answer = apply(fetchHook, undefined, [request.method, url, arrayOf(pairs), request.bytes, (stop) => onAbort(request.signal, stop)]);
    return react(answer, (given) => {
      const { status, statusText, headers: received, body } = given;
      const headers = newHeaders(received);
      const location = isRedirect(status) ? findHeader(headerSlots(headers), "location") : null;
      if (location !== null && request.mode === "error") throw new TypeError("The server redirected, which the request does not allow.");
      if (location === null || request.mode === "manual") {
        const empty = body === null || body === undefined || request.method === "HEAD" || status === 204 || status === 205 || status === 304;
        return answered({
          __proto__: null, type: "basic", url, redirected: request.redirects > 0, status, statusText, headers: freezeHeaders(headers),
          body: empty ? null : bytesBody(body),
        });
      }
      return redirect(request, status, location);
    }, rethrow);
  };
  // Bytes beyond ASCII are meant as they are, not as characters of Latin-1.
  const escaped = (location) => {
    if (exec(/[\x80-\xff]/, location) === null) return location;
    let text = "";
    for (let i = 0; i < location.length; i++) {
      const code = charCodeAt(location, i);
      text += code < 0x80 ? location[i] : "%" + toUpperCase(numberText(code, 16));
    }
    return text;
  };
  const redirect = (request, status, location) => {
    const { address, headers } = request;
    const next = native.address(escaped(location), address.href);
    if (next === undefined) throw new TypeError("The server redirected to an invalid address: " + location);
    if (next.scheme !== "http" && next.scheme !== "https") throw new TypeError("The server redirected to " + next.scheme + ":, which is not followed.");
    if (request.redirects >= MOST_REDIRECTS) throw new TypeError("The server redirected more than " + MOST_REDIRECTS + " times.");
    if (status !== 303 && request.streamed) {
      throw new TypeError("The server redirected, and a body that was a stream cannot be sent again; make the request of a text, bytes or a Blob.");
    }
    const target = headerSlots(headers);
    const drops = ((status === 301 || status === 302) && request.method === "POST") || (status === 303 && request.method !== "GET" && request.method !== "HEAD");
    if (drops) {
      const names = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];
      for (let i = 0; i < names.length; i++) removeHeader(target, names[i]);
    }
    if (next.origin !== address.origin) {
      const names = ["authorization", "proxy-authorization", "cookie", "host"];
      for (let i = 0; i < names.length; i++) removeHeader(target, names[i]);
    }
    return hop({
      ...request, __proto__: null, method: drops ? "GET" : request.method, bytes: drops ? null : request.bytes, address: next, headers,
      redirects: request.redirects + 1,
    });
  };
});
