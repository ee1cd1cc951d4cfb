// Bodies of requests and responses (Fetch, 5.2 and 5.3).
//
// A body is `{bytes, stream, used}`: bytes that nobody changes, of which a stream is made only when a program asks for
// it, or the slots of a stream; with both, the stream is one of those bytes. `used` says that bytes were consumed without a
// stream. `forget`, if there is one, is called when nothing is left that an abort could take away; `aborted` is `{reason}`
// when one took it.
(function (lib) {
  const {
    defineProperty, isObject, usv, native, bytesOf, copyBytes, arrayBuffer, arrayOffset, arrayBytes, arraySet, settle, resolved, rejected, react, list,
    append, readable, createReadable, readableSlots, newBlob, parseJson, utf8Text, blobSlots, kindOf, arrayTag, getOwnPropertyDescriptor, ownKeys,
    Uint8Array, TypeError, rethrow,
  } = lib;

  const newBody = (bytes) => ({ __proto__: null, bytes, stream: undefined, used: false, forget: undefined, aborted: undefined });
  const streamBody = (lib.streamBody = (stream) => ({ __proto__: null, bytes: undefined, stream, used: false, forget: undefined, aborted: undefined }));
  // `{body, type}` of what a program passes; the type is undefined when none goes with it.
  lib.extractBody = (value, keepalive = false) => {
    if (isObject(value)) {
      if (lib.isReadableStream(value)) {
        if (keepalive) throw new TypeError("A stream cannot be the body of a keepalive request.");
        const stream = readableSlots(value);
        if (stream.disturbed || stream.reader !== undefined) throw new TypeError("This ReadableStream is disturbed (has already been read from), and cannot be used as a body.");
        return { __proto__: null, body: streamBody(stream), type: undefined };
      }
      if (lib.isBlob(value)) {
        const { bytes, offset, length, type } = blobSlots(value);
        return { __proto__: null, body: newBody(new Uint8Array(arrayBuffer(bytes), offset, length)), type: type === "" ? undefined : type };
      }
      const place = bytesOf(value);
      if (place !== undefined) return { __proto__: null, body: newBody(copyBytes(place)), type: undefined };
      if (lib.isFormData(value)) {
        const { type, bytes } = lib.writeMultipart(value);
        return { __proto__: null, body: newBody(bytes), type };
      }
      if (lib.isURLSearchParams(value)) {
        return { __proto__: null, body: newBody(native.utf8Encode(lib.searchParamsText(value))), type: "application/x-www-form-urlencoded;charset=UTF-8" };
      }
    }
    return { __proto__: null, body: newBody(native.utf8Encode(usv(value))), type: "text/plain;charset=UTF-8" };
  };
  lib.bytesBody = newBody;

  const isUsed = (body) => body !== null && (body.used || (body.stream !== undefined && body.stream.disturbed));
  lib.isUnusable = (body) => body !== null && (isUsed(body) || (body.stream !== undefined && body.stream.reader !== undefined));
  const streamOf = (body) => {
    if (body.stream === undefined) {
      const { bytes, used } = body;
      body.stream = createReadable((controller) => {
        if (arrayBytes(bytes) > 0) readable.enqueueChunk(controller, copyOf(bytes));
        readable.closeController(controller);
        body.forget?.();
      }, () => undefined, 0);
      if (used) {
        // As it is after all was read: the reader is never released.
        body.stream.disturbed = true;
        readable.closeController(body.stream.controller);
        readable.acquireReader(body.stream);
      }
    }
    return body.stream;
  };
  // The two bodies that a clone leaves.
  lib.cloneBody = (body) => {
    if (body === null) return null;
    if (body.stream === undefined) return newBody(body.bytes);
    const { 0: first, 1: second } = readable.tee(body.stream, true);
    body.stream = first;
    return { ...streamBody(second), __proto__: null, bytes: body.bytes, aborted: body.aborted };
  };
  // What a program reads of the body from now on is this error, unless nothing is left to read.
  lib.abortBody = (body, reason) => {
    if (body.stream === undefined && (body.used || arrayBytes(body.bytes) === 0)) return;
    const stream = streamOf(body);
    if (stream.state !== "readable") return;
    body.aborted = { __proto__: null, reason };
    readable.errorController(stream.controller, reason);
  };

  // A promise of `{bytes}`: all bytes as a Uint8Array that is not to be changed. The record inherits nothing: a promise
  // that is resolved with bytes asks them for `then`.
  const readAll = (lib.readBody = (body) => {
    if (body === null) return resolved({ __proto__: null, bytes: new Uint8Array(0) });
    if (body.stream === undefined) {
      body.used = true;
      body.forget?.();
      return resolved({ __proto__: null, bytes: body.bytes });
    }
    const { promise, resolve, reject } = settle();
    const reader = readable.acquireReader(body.stream);
    const chunks = list();
    let length = 0;
    const step = () => {
      let sync = true;
      let more = false;
      readable.readFrom(reader, {
        __proto__: null,
        chunk: (chunk) => {
          if (!isObject(chunk) || kindOf(chunk) !== "view" || arrayTag(chunk) !== "Uint8Array") {
            const error = new TypeError("A chunk of the body is not a Uint8Array.");
            readable.cancelStream(body.stream, error);
            reject(error);
            return;
          }
          append(chunks, chunk);
          length += arrayBytes(chunk);
          if (sync) more = true;
          else run();
        },
        close: () => {
          if (chunks.length === 1) {
            resolve({ __proto__: null, bytes: chunks[0] });
            return;
          }
          try {
            const bytes = new Uint8Array(length);
            let at = 0;
            for (let i = 0; i < chunks.length; i++) {
              arraySet(bytes, chunks[i], at);
              at += arrayBytes(chunks[i]);
            }
            resolve({ __proto__: null, bytes });
          } catch (error) {
            reject(error);
          }
        },
        error: reject,
      });
      sync = false;
      return more;
    };
    // Chunks that are there already are taken in a loop, not by recursion.
    const run = () => {
      while (step());
    };
    run();
    return promise;
  });
  const copyOf = (bytes) => copyBytes({ buffer: arrayBuffer(bytes), offset: arrayOffset(bytes), length: arrayBytes(bytes) });
  const textOf = (bytes) => utf8Text({ buffer: arrayBuffer(bytes), offset: arrayOffset(bytes), length: arrayBytes(bytes) });
  const formOf = (bytes, mime) => {
    const essence = mime === undefined ? "" : mime.type + "/" + mime.subtype;
    if (essence === "multipart/form-data") {
      const boundary = lib.mimeParameter(mime, "boundary");
      if (boundary === undefined) throw new TypeError("The multipart body has no boundary.");
      return lib.readMultipart(bytes, boundary);
    }
    if (essence === "application/x-www-form-urlencoded") return lib.readUrlencoded(bytes);
    throw new TypeError('The body is neither "multipart/form-data" nor "application/x-www-form-urlencoded".');
  };

  // Gives a class the members of a body. `slots(object)` has `body` (or null) and `headers`; it throws for others.
  lib.bodyMixin = (Class, slots) => {
    const consume = (object, convert) => {
      let state;
      try {
        state = slots(object);
      } catch (error) {
        return rejected(error);
      }
      if (lib.isUnusable(state.body)) return rejected(new TypeError("Body has already been used. It can only be used once. Use tee() first if you need to read it twice."));
      // At once, and as often as it is asked for.
      if (state.body !== null && state.body.aborted !== undefined) return rejected(state.body.aborted.reason);
      return react(readAll(state.body), ({ bytes }) => convert(bytes, state), rethrow);
    };
    const members = {
      get body() {
        const { body } = slots(this);
        return body === null ? null : streamOf(body).object;
      },
      get bodyUsed() {
        return isUsed(slots(this).body);
      },
      arrayBuffer() {
        return consume(this, (bytes) => arrayBuffer(copyOf(bytes)));
      },
      blob() {
        return consume(this, (bytes, { headers }) => {
          const mime = lib.contentType(headers);
          return newBlob(copyOf(bytes), mime === undefined ? "" : lib.mimeText(mime));
        });
      },
      bytes() {
        return consume(this, copyOf);
      },
      formData() {
        return consume(this, (bytes, { headers }) => formOf(bytes, lib.contentType(headers)));
      },
      json() {
        return consume(this, (bytes) => parseJson(textOf(bytes)));
      },
      text() {
        return consume(this, textOf);
      },
    };
    const names = ownKeys(members);
    for (let i = 0; i < names.length; i++) {
      const described = getOwnPropertyDescriptor(members, names[i]);
      defineProperty(Class.prototype, names[i], described);
    }
  };
});
