// TransformStream (Streams, section 6), and the transform streams of Encoding.
(function (lib) {
  const {
    apply, construct, define, expose, guard, secret, illegal, isObject, dictionary, settle, adopted, rejected, react, strategyOf, markOf, countOne,
    algorithm, callAsync, createReadable, createWritable, rethrow, native, bytesOf, encodingOf, decodeSome, charCodeAt, slice, RangeError, TypeError,
    ArrayBuffer, arrayBytes,
  } = lib;
  const { enqueueChunk, closeController, errorController, desiredSize, canEnqueue, shouldPull } = lib.readable;
  const { errorIfNeeded } = lib.writable;
  const nothing = () => undefined;

  // `transform(chunk, controller)`, `flush(controller)`, `cancel(reason)` do not throw; what they return is awaited.
  const newTransform = (transform, flush, cancel, writableMark, writableSize, readableMark, readableSize, started) => {
    const state = {
      __proto__: null, object: undefined, readable: undefined, writable: undefined, backpressure: undefined, change: undefined, controller: undefined,
      transform, flush, cancel, finishing: undefined,
    };
    const start = () => adopted(started.promise);
    state.writable = createWritable(
      (chunk) => write(state, chunk),
      () => close(state),
      (reason) => abort(state, reason),
      writableMark, writableSize, start,
    );
    state.readable = createReadable(
      () => {
        setBackpressure(state, false);
        return state.change.promise;
      },
      (reason) => cancelReadable(state, reason),
      readableMark, readableSize, start,
    );
    setBackpressure(state, true);
    state.controller = new TransformStreamDefaultController(secret, state);
    return state;
  };
  const setBackpressure = (state, backpressure) => {
    if (state.change !== undefined) state.change.resolve();
    state.change = settle();
    state.backpressure = backpressure;
  };
  const clearAlgorithms = (state) => {
    state.transform = state.flush = state.cancel = nothing;
  };
  const errorAll = (state, error) => {
    errorController(state.readable.controller, error);
    errorWritable(state, error);
  };
  const errorWritable = (state, error) => {
    clearAlgorithms(state);
    errorIfNeeded(state.writable.controller, error);
    if (state.backpressure) setBackpressure(state, false);
  };
  const perform = (state, chunk) => react(state.transform(chunk, state), undefined, (error) => {
    errorAll(state, error);
    throw error;
  });
  const write = (state, chunk) => {
    if (!state.backpressure) return perform(state, chunk);
    return react(state.change.promise, () => {
      if (state.writable.state === "erroring") throw state.writable.error;
      return perform(state, chunk);
    }, rethrow);
  };
  const abort = (state, reason) => {
    if (state.finishing !== undefined) return state.finishing.promise;
    const finishing = (state.finishing = settle());
    const result = state.cancel(reason);
    clearAlgorithms(state);
    react(result, () => {
      if (state.readable.state === "errored") {
        finishing.reject(state.readable.error);
      } else {
        errorController(state.readable.controller, reason);
        finishing.resolve();
      }
    }, (error) => {
      errorController(state.readable.controller, error);
      finishing.reject(error);
    });
    return finishing.promise;
  };
  const close = (state) => {
    if (state.finishing !== undefined) return state.finishing.promise;
    const finishing = (state.finishing = settle());
    const result = state.flush(state);
    clearAlgorithms(state);
    react(result, () => {
      if (state.readable.state === "errored") {
        finishing.reject(state.readable.error);
      } else {
        closeController(state.readable.controller);
        finishing.resolve();
      }
    }, (error) => {
      errorController(state.readable.controller, error);
      finishing.reject(error);
    });
    return finishing.promise;
  };
  const cancelReadable = (state, reason) => {
    if (state.finishing !== undefined) return state.finishing.promise;
    const finishing = (state.finishing = settle());
    const result = state.cancel(reason);
    clearAlgorithms(state);
    react(result, () => {
      if (state.writable.state === "errored") {
        finishing.reject(state.writable.error);
      } else {
        errorIfNeeded(state.writable.controller, reason);
        if (state.backpressure) setBackpressure(state, false);
        finishing.resolve();
      }
    }, (error) => {
      errorIfNeeded(state.writable.controller, error);
      if (state.backpressure) setBackpressure(state, false);
      finishing.reject(error);
    });
    return finishing.promise;
  };

  const enqueue = (state, chunk) => {
    const { controller } = state.readable;
    if (!canEnqueue(controller)) throw new TypeError("Cannot enqueue to a TransformStream whose readable side is closed or errored.");
    try {
      enqueueChunk(controller, chunk);
    } catch (error) {
      errorWritable(state, error);
      throw state.readable.error;
    }
    const backpressure = !shouldPull(controller);
    if (backpressure !== state.backpressure) setBackpressure(state, true);
  };
  const terminate = (state) => {
    // Before anything changes: to make an error may run the program.
    const error = new TypeError("The transform stream has been terminated.");
    closeController(state.readable.controller);
    errorWritable(state, error);
  };

  let slots;
  class TransformStream {
    #slots;
    constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
      if (transformer === secret) {
        this.#slots = writableStrategy;
        return;
      }
      if (transformer !== undefined && !isObject(transformer)) throw new TypeError("The transformer is not an object");
      const writable = strategyOf(writableStrategy);
      const readable = strategyOf(readableStrategy);
      const holder = transformer === undefined ? { __proto__: null } : transformer;
      const cancel = algorithm(holder, "cancel");
      const flush = algorithm(holder, "flush");
      if (holder.readableType !== undefined) throw new RangeError("readableType must be undefined");
      const start = algorithm(holder, "start");
      const transform = algorithm(holder, "transform");
      if (holder.writableType !== undefined) throw new RangeError("writableType must be undefined");
      const readableMark = markOf(readable, 0);
      const writableMark = markOf(writable, 1);
      lib.needStack();
      const started = settle();
      const state = newTransform(
        transform === undefined ? passOn : (chunk, { controller }) => callAsync(transform, transformer, [chunk, controller]),
        flush === undefined ? nothing : ({ controller }) => callAsync(flush, transformer, [controller]),
        cancel === undefined ? nothing : (reason) => callAsync(cancel, transformer, [reason]),
        writableMark, writable.size ?? countOne, readableMark, readable.size ?? countOne, started,
      );
      this.#slots = state;
      started.resolve(start === undefined ? undefined : apply(start, transformer, [state.controller]));
    }
    static {
      slots = (stream) => {
        try {
          return stream.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isTransformStream = (value) => isObject(value) && #slots in value;
    }
    get readable() {
      return slots(this).readable.object;
    }
    get writable() {
      return slots(this).writable.object;
    }
  }
  const passOn = (chunk, state) => {
    try {
      enqueue(state, chunk);
    } catch (error) {
      return rejected(error);
    }
    return undefined;
  };
  define(TransformStream, lib.isTransformStream);
  expose("TransformStream", TransformStream);

  let controllerSlots;
  class TransformStreamDefaultController {
    #slots;
    constructor(token = undefined, state = undefined) {
      guard(token);
      this.#slots = state;
    }
    static {
      controllerSlots = (controller) => {
        try {
          return controller.#slots;
        } catch {
          return illegal();
        }
      };
    }
    get desiredSize() {
      return desiredSize(controllerSlots(this).readable.controller);
    }
    enqueue(chunk = undefined) {
      const state = controllerSlots(this);
      lib.needStack();
      enqueue(state, chunk);
    }
    error(reason = undefined) {
      const state = controllerSlots(this);
      lib.needStack();
      errorAll(state, reason);
    }
    terminate() {
      const state = controllerSlots(this);
      lib.needStack();
      terminate(state);
    }
  }
  define(TransformStreamDefaultController);
  expose("TransformStreamDefaultController", TransformStreamDefaultController);

  // A transform of ours: `transform(chunk, emit, state)` and `flush(emit, state)` may throw and may return promises.
  lib.createTransform = (transform, flush) => {
    const started = settle();
    started.resolve();
    const run = (f, chunk, state) => {
      try {
        return f(chunk, (result) => enqueue(state, result), state);
      } catch (error) {
        return rejected(error);
      }
    };
    return newTransform((chunk, state) => run(transform, chunk, state), (state) => run((_, emit) => flush(emit, state), undefined, state), nothing, 1, countOne, 0, countOne, started);
  };

  // Undefined while somebody reads; otherwise a promise of whether somebody does, or the stream comes to its end instead.
  lib.transformHasRoom = (state) => {
    if (!state.backpressure) return undefined;
    return react(state.change.promise, () => state.writable.state !== "erroring", rethrow);
  };

  class TextEncoderStream {
    #transform;
    constructor() {
      // A high surrogate at the end of a chunk waits for the next one.
      let high = "";
      this.#transform = lib.createTransform((chunk, emit) => {
        let text = high + lib.toText(chunk);
        high = "";
        const last = text.length === 0 ? 0 : charCodeAt(text, text.length - 1);
        if (last >= 0xd800 && last <= 0xdbff) {
          high = slice(text, -1);
          text = slice(text, 0, -1);
        }
        if (text !== "") emit(native.utf8Encode(text));
      }, (emit) => {
        if (high !== "") emit(native.utf8Encode(high));
      });
    }
    get encoding() {
      return #transform in toObject(this) ? "utf-8" : illegal();
    }
    get readable() {
      return #transform in toObject(this) ? this.#transform.readable.object : illegal();
    }
    get writable() {
      return #transform in toObject(this) ? this.#transform.writable.object : illegal();
    }
  }
  const toObject = lib.Object;
  define(TextEncoderStream);
  expose("TextEncoderStream", TextEncoderStream);

  class TextDecoderStream {
    #slots;
    constructor(label = "utf-8", options = undefined) {
      const encoding = encodingOf(label);
      const { fatal = false, ignoreBOM = false } = dictionary(options, "options");
      const decoder = { __proto__: null, encoding, fatal: !!fatal, ignoreBOM: !!ignoreBOM, stream: undefined };
      const transform = lib.createTransform((chunk, emit) => {
        const bytes = bytesOf(chunk);
        if (bytes === undefined) throw new TypeError("A chunk of a TextDecoderStream must be an ArrayBuffer or a view of one.");
        const text = decodeSome(decoder, bytes, true);
        if (text !== "") emit(text);
      }, (emit) => {
        const text = decodeSome(decoder, { __proto__: null, buffer: empty, offset: 0, length: 0 }, false);
        if (text !== "") emit(text);
      });
      this.#slots = { __proto__: null, decoder, transform };
    }
    static slots(stream) {
      try {
        return stream.#slots;
      } catch {
        return illegal();
      }
    }
    get encoding() {
      return decoderSlots(this).decoder.encoding;
    }
    get fatal() {
      return decoderSlots(this).decoder.fatal;
    }
    get ignoreBOM() {
      return decoderSlots(this).decoder.ignoreBOM;
    }
    get readable() {
      return decoderSlots(this).transform.readable.object;
    }
    get writable() {
      return decoderSlots(this).transform.writable.object;
    }
  }
  const { slots: decoderSlots } = TextDecoderStream;
  delete TextDecoderStream.slots;
  const empty = new ArrayBuffer(0);
  define(TextDecoderStream);
  expose("TextDecoderStream", TextDecoderStream);

  // The reference's own two: bytes pass as they are, and exactly as many as were announced.
  class IdentityTransformStream extends TransformStream {
    constructor() {
      return construct(TransformStream, [secret, bytesThrough(undefined)], new.target);
    }
  }
  class FixedLengthStream extends TransformStream {
    constructor(length) {
      lib.need(arguments.length, 1, "constructor' on 'FixedLengthStream");
      return construct(TransformStream, [secret, bytesThrough(lib.enforceRange(length, 9007199254740991, "length"))], new.target);
    }
  }
  const bytesThrough = (length) => {
    let left = length;
    return lib.createTransform((chunk, emit) => {
      const bytes = typeof chunk === "string" ? native.utf8Encode(chunk) : isObject(chunk) && bytesOf(chunk) !== undefined ? lib.copyBytes(bytesOf(chunk)) : undefined;
      if (bytes === undefined) throw new TypeError("This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/ArrayBufferView type on its writable side.");
      if (left !== undefined) {
        left -= arrayBytes(bytes);
        if (left < 0) throw new TypeError("Attempt to write too many bytes through a FixedLengthStream.");
      }
      if (arrayBytes(bytes) > 0) emit(bytes);
    }, () => {
      if (left !== undefined && left > 0) throw new TypeError("FixedLengthStream did not see all expected bytes before close().");
    });
  };
  define(IdentityTransformStream);
  define(FixedLengthStream);
  expose("IdentityTransformStream", IdentityTransformStream);
  expose("FixedLengthStream", FixedLengthStream);
});
