// ReadableStream, its default reader and controllers (Streams, section 4). Byte streams have no BYOB reader: their
// controller takes views and hands out Uint8Arrays by the default reader.
//
// Public objects have private slots; everything works on the slots, which are records without a prototype.
(function (lib) {
  const {
    apply, define, defineProperty, create, setPrototypeOf, expose, guard, secret, illegal, need, isObject, dictionary, enumeration,
    settle, resolved, rejected, follow, react, handled, list, append, newQueue, enqueue: enqueueTo, dequeue, resetQueue, checkSize, strategyOf, markOf,
    countOne, algorithm, callAsync, kindOf, bytesOf, bufferTransfer, bufferDetached, bufferLength, arrayBytes, iteratorSymbol, asyncIteratorSymbol,
    AsyncIteratorPrototype, Uint8Array, RangeError, TypeError,
  } = lib;
  const nothing = () => undefined;
  const rethrow = (lib.rethrow = (error) => {
    throw error;
  });

  // Controllers.
  const newController = (stream, start, pull, cancel, mark, size, bytes) => {
    const controller = {
      __proto__: null, object: undefined, stream, queue: newQueue(), started: false, closing: false, pulling: false, pullAgain: false,
      mark, size, pull, cancel, bytes,
    };
    controller.object = bytes ? new ReadableByteStreamController(secret, controller) : new ReadableStreamDefaultController(secret, controller);
    stream.controller = controller;
    const begun = start(controller);
    react(begun, () => {
      controller.started = true;
      pullIfNeeded(controller);
    }, (error) => errorController(controller, error));
    return controller;
  };
  const desiredSize = (controller) => {
    const { state } = controller.stream;
    return state === "errored" ? null : state === "closed" ? 0 : controller.mark - controller.queue.total;
  };
  const canEnqueue = (controller) => !controller.closing && controller.stream.state === "readable";
  const shouldPull = (controller) => {
    const { stream } = controller;
    if (!canEnqueue(controller) || !controller.started) return false;
    if (stream.reader !== undefined && stream.reader.requests.length > 0) return true;
    return desiredSize(controller) > 0;
  };
  const pullIfNeeded = (controller) => {
    if (!shouldPull(controller)) return;
    if (controller.pulling) {
      controller.pullAgain = true;
      return;
    }
    controller.pulling = true;
    react(controller.pull(controller), () => {
      controller.pulling = false;
      if (controller.pullAgain) {
        controller.pullAgain = false;
        pullIfNeeded(controller);
      }
    }, (error) => errorController(controller, error));
  };
  const clearAlgorithms = (controller) => {
    controller.pull = controller.cancel = nothing;
    controller.size = countOne;
  };
  const closeController = (controller) => {
    if (!canEnqueue(controller)) return;
    controller.closing = true;
    if (controller.queue.length === 0) {
      clearAlgorithms(controller);
      closeStream(controller.stream);
    }
  };
  const errorController = (controller, error) => {
    if (controller.stream.state !== "readable") return;
    resetQueue(controller.queue);
    clearAlgorithms(controller);
    errorStream(controller.stream, error);
  };
  const enqueueChunk = (controller, chunk) => {
    if (!canEnqueue(controller)) return;
    const { stream } = controller;
    if (stream.reader !== undefined && stream.reader.requests.length > 0) {
      dequeue(stream.reader.requests).chunk(chunk);
    } else {
      try {
        enqueueTo(controller.queue, chunk, checkSize(controller.size(chunk)));
      } catch (error) {
        errorController(controller, error);
        throw error;
      }
    }
    pullIfNeeded(controller);
  };
  const pullSteps = (controller, request) => {
    const { queue, stream } = controller;
    if (queue.length === 0) {
      enqueueTo(stream.reader.requests, request);
      pullIfNeeded(controller);
      return;
    }
    const chunk = dequeue(queue);
    if (controller.closing && queue.length === 0) {
      clearAlgorithms(controller);
      closeStream(stream);
    } else {
      pullIfNeeded(controller);
    }
    request.chunk(chunk);
  };

  // Streams.
  const newStream = () => ({
    __proto__: null, object: undefined, state: "readable", reader: undefined, error: undefined, controller: undefined, disturbed: false,
  });
  // A stream whose algorithms are ours: they take the controller (start, pull) or the reason (cancel) and do not throw.
  const createStream = (lib.createReadable = (pull, cancel, mark = 1, size = countOne, start = nothing) => makeStream(start, pull, cancel, mark, size, false));
  const makeStream = (start, pull, cancel, mark, size, bytes) => {
    const stream = newStream();
    stream.object = new ReadableStream(secret, stream);
    newController(stream, start, pull, cancel, mark, size, bytes);
    return stream;
  };
  const closeStream = (stream) => {
    stream.state = "closed";
    const { reader } = stream;
    if (reader === undefined) return;
    reader.closed.resolve();
    const { requests } = reader;
    reader.requests = newQueue();
    while (requests.length > 0) dequeue(requests).close();
  };
  const errorStream = (stream, error) => {
    stream.state = "errored";
    stream.error = error;
    const { reader } = stream;
    if (reader === undefined) return;
    reader.closed.reject(error);
    handled(reader.closed.promise);
    failRequests(reader, error);
  };
  const failRequests = (reader, error) => {
    const { requests } = reader;
    reader.requests = newQueue();
    while (requests.length > 0) dequeue(requests).error(error);
  };
  // A promise.
  const cancelStream = (stream, reason) => {
    stream.disturbed = true;
    if (stream.state === "closed") return resolved();
    if (stream.state === "errored") return rejected(stream.error);
    closeStream(stream);
    const { controller } = stream;
    resetQueue(controller.queue);
    const { cancel } = controller;
    const result = cancel(reason);
    clearAlgorithms(controller);
    return react(result, nothing, rethrow);
  };

  // Readers.
  const acquireReader = (stream) => {
    const reader = { __proto__: null, object: undefined, stream: undefined, requests: newQueue(), closed: settle() };
    attach(reader, stream);
    return reader;
  };
  const attach = (reader, stream) => {
    if (stream.reader !== undefined) throw new TypeError("This ReadableStream is currently locked to a reader.");
    reader.stream = stream;
    stream.reader = reader;
    if (stream.state === "closed") reader.closed.resolve();
    if (stream.state === "errored") {
      reader.closed.reject(stream.error);
      handled(reader.closed.promise);
    }
  };
  const releaseReader = (reader) => {
    // First: to make an error may run the program, which may release it.
    const error = released();
    const { stream } = reader;
    if (stream === undefined) return;
    if (stream.state !== "readable") reader.closed = settle();
    reader.closed.reject(error);
    handled(reader.closed.promise);
    stream.reader = undefined;
    reader.stream = undefined;
    failRequests(reader, error);
  };
  // `request` has `chunk(value)`, `close()` and `error(reason)`; exactly one is called, once.
  const readFrom = (reader, request) => {
    const { stream } = reader;
    stream.disturbed = true;
    if (stream.state === "closed") request.close();
    else if (stream.state === "errored") request.error(stream.error);
    else pullSteps(stream.controller, request);
  };

  let slots;
  class ReadableStream {
    #slots;
    constructor(source = undefined, strategy = undefined) {
      if (source === secret) {
        this.#slots = strategy;
        return;
      }
      if (source !== undefined && !isObject(source)) throw new TypeError("The underlying source is not an object");
      const given = strategyOf(strategy);
      const holder = source === undefined ? { __proto__: null } : source;
      const { autoAllocateChunkSize } = holder;
      if (autoAllocateChunkSize !== undefined && lib.enforceRange(autoAllocateChunkSize, 9007199254740991, "autoAllocateChunkSize") === 0) {
        throw new TypeError("autoAllocateChunkSize must not be zero");
      }
      const cancel = algorithm(holder, "cancel");
      const pull = algorithm(holder, "pull");
      const start = algorithm(holder, "start");
      const { type } = holder;
      const bytes = type !== undefined && enumeration(type, ["bytes"], "type") === "bytes";
      if (bytes && given.size !== undefined) throw new RangeError("A byte stream cannot have a size function");
      const mark = markOf(given, bytes ? 0 : 1);
      lib.needStack();
      const stream = newStream();
      stream.object = this;
      this.#slots = stream;
      newController(
        stream,
        start === undefined ? nothing : (controller) => resolved(apply(start, source, [controller.object])),
        pull === undefined ? nothing : (controller) => callAsync(pull, source, [controller.object]),
        cancel === undefined ? nothing : (reason) => callAsync(cancel, source, [reason]),
        mark,
        bytes ? arrayBytes : (given.size ?? countOne),
        bytes,
      );
    }
    static {
      slots = (stream) => {
        try {
          return stream.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isReadableStream = (value) => isObject(value) && #slots in value;
    }
    static from(asyncIterable) {
      need(arguments.length, 1, "from' on 'ReadableStream");
      return fromIterable(asyncIterable).object;
    }
    get locked() {
      return slots(this).reader !== undefined;
    }
    cancel(reason = undefined) {
      return promising(() => {
        const stream = slots(this);
        if (stream.reader !== undefined) throw new TypeError("This ReadableStream is currently locked to a reader.");
        return cancelStream(stream, reason);
      });
    }
    getReader(options = undefined) {
      const stream = slots(this);
      const { mode } = dictionary(options, "options");
      if (mode !== undefined) {
        enumeration(mode, ["byob"], "mode");
        throw new TypeError("BYOB readers are not supported.");
      }
      lib.needStack();
      return new ReadableStreamDefaultReader(stream.object);
    }
    pipeThrough(transform, options = undefined) {
      const stream = slots(this);
      need(arguments.length, 1, "pipeThrough' on 'ReadableStream");
      const pair = dictionary(transform, "transform");
      const { readable } = pair;
      if (!lib.isReadableStream(readable)) throw new TypeError("'readable' is not a ReadableStream");
      const { writable } = pair;
      if (!lib.isWritableStream(writable)) throw new TypeError("'writable' is not a WritableStream");
      const settings = pipeOptions(options);
      lib.needStack();
      if (stream.reader !== undefined) throw new TypeError("This ReadableStream is currently locked to a reader.");
      const target = lib.writableSlots(writable);
      if (target.writer !== undefined) throw new TypeError("This WritableStream is currently locked to a writer.");
      handled(lib.pipe(stream, target, settings));
      return readable;
    }
    pipeTo(destination, options = undefined) {
      return promising(() => {
        const stream = slots(this);
        need(arguments.length, 1, "pipeTo' on 'ReadableStream");
        if (!lib.isWritableStream(destination)) throw new TypeError("The destination is not a WritableStream");
        const settings = pipeOptions(options);
        if (stream.reader !== undefined) throw new TypeError("This ReadableStream is currently locked to a reader.");
        const target = lib.writableSlots(destination);
        if (target.writer !== undefined) throw new TypeError("This WritableStream is currently locked to a writer.");
        return lib.pipe(stream, target, settings);
      });
    }
    tee() {
      const stream = slots(this);
      lib.needStack();
      const { 0: first, 1: second } = tee(stream, false);
      return [first.object, second.object];
    }
    values(options = undefined) {
      const stream = slots(this);
      const { preventCancel = false } = dictionary(options, "options");
      lib.needStack();
      return newIterator(stream, !!preventCancel);
    }
  }
  const promising = (lib.promising = (run) => {
    try {
      lib.needStack();
      return run();
    } catch (error) {
      return rejected(error);
    }
  });
  const pipeOptions = (options) => {
    const { preventAbort = false, preventCancel = false, preventClose = false, signal } = dictionary(options, "options");
    if (signal !== undefined && !lib.isAbortSignal(signal)) throw new TypeError("'signal' is not an AbortSignal");
    return { __proto__: null, preventAbort: !!preventAbort, preventCancel: !!preventCancel, preventClose: !!preventClose, signal };
  };
  define(ReadableStream, lib.isReadableStream);
  defineProperty(ReadableStream.prototype, asyncIteratorSymbol, { __proto__: null, value: ReadableStream.prototype.values, writable: true, configurable: true });
  expose("ReadableStream", ReadableStream);

  let readerSlots;
  class ReadableStreamDefaultReader {
    #slots;
    constructor(stream) {
      need(arguments.length, 1, "constructor' on 'ReadableStreamDefaultReader");
      if (!lib.isReadableStream(stream)) throw new TypeError("The stream is not a ReadableStream");
      this.#slots = acquireReader(slots(stream));
      this.#slots.object = this;
    }
    static {
      readerSlots = (reader) => {
        try {
          return reader.#slots;
        } catch {
          return illegal();
        }
      };
    }
    get closed() {
      return promising(() => readerSlots(this).closed.promise);
    }
    cancel(reason = undefined) {
      return promising(() => {
        const { stream } = readerSlots(this);
        if (stream === undefined) throw released();
        return cancelStream(stream, reason);
      });
    }
    read() {
      return promising(() => {
        const reader = readerSlots(this);
        if (reader.stream === undefined) throw released();
        const { promise, resolve, reject } = settle();
        readFrom(reader, {
          __proto__: null,
          chunk: (value) => resolve({ value, done: false }),
          close: () => resolve({ value: undefined, done: true }),
          error: reject,
        });
        return promise;
      });
    }
    releaseLock() {
      const reader = readerSlots(this);
      lib.needStack();
      if (reader.stream !== undefined) releaseReader(reader);
    }
  }
  const released = () => new TypeError("This ReadableStream reader has been released.");
  define(ReadableStreamDefaultReader);
  expose("ReadableStreamDefaultReader", ReadableStreamDefaultReader);

  let controllerSlots;
  class ReadableStreamDefaultController {
    #slots;
    constructor(token = undefined, controller = undefined) {
      guard(token);
      this.#slots = controller;
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
      return desiredSize(controllerSlots(this));
    }
    close() {
      const controller = controllerSlots(this);
      mustEnqueue(controller, "close");
      closeController(controller);
    }
    enqueue(chunk = undefined) {
      const controller = controllerSlots(this);
      mustEnqueue(controller, "enqueue to");
      enqueueChunk(controller, chunk);
    }
    error(reason = undefined) {
      const controller = controllerSlots(this);
      lib.needStack();
      errorController(controller, reason);
    }
  }
  const mustEnqueue = (controller, what) => {
    lib.needStack();
    if (!canEnqueue(controller)) throw new TypeError("Cannot " + what + " a ReadableStream that is " + (controller.closing ? "closing or closed" : controller.stream.state) + ".");
  };
  define(ReadableStreamDefaultController);
  expose("ReadableStreamDefaultController", ReadableStreamDefaultController);

  let byteSlots;
  class ReadableByteStreamController {
    #slots;
    constructor(token = undefined, controller = undefined) {
      guard(token);
      this.#slots = controller;
    }
    static {
      byteSlots = (controller) => {
        try {
          return controller.#slots;
        } catch {
          return illegal();
        }
      };
    }
    get byobRequest() {
      byteSlots(this);
      return null;
    }
    get desiredSize() {
      return desiredSize(byteSlots(this));
    }
    close() {
      const controller = byteSlots(this);
      mustEnqueue(controller, "close");
      closeController(controller);
    }
    enqueue(chunk) {
      const controller = byteSlots(this);
      need(arguments.length, 1, "enqueue' on 'ReadableByteStreamController");
      const kind = isObject(chunk) ? kindOf(chunk) : undefined;
      if (kind !== "view" && kind !== "dataview") throw new TypeError("The chunk is not a view of a buffer");
      const { buffer, offset, length } = bytesOf(chunk);
      if (length === 0) throw new TypeError("The chunk must not be empty");
      mustEnqueue(controller, "enqueue to");
      if (kindOf(buffer) !== "buffer" || bufferDetached(buffer)) throw new TypeError("The buffer of the chunk cannot be transferred");
      enqueueChunk(controller, new Uint8Array(bufferTransfer(buffer, bufferLength(buffer)), offset, length));
    }
    error(reason = undefined) {
      const controller = byteSlots(this);
      lib.needStack();
      errorController(controller, reason);
    }
  }
  define(ReadableByteStreamController);
  expose("ReadableByteStreamController", ReadableByteStreamController);

  // Asynchronous iteration: calls are carried out one after the other.
  class StreamIterator {
    #state;
    constructor(state) {
      this.#state = state;
    }
    static state(iterator) {
      try {
        return iterator.#state;
      } catch {
        return illegal();
      }
    }
  }
  const { state: iteratorState } = StreamIterator;
  const newIterator = (stream, preventCancel) => {
    const iterator = new StreamIterator({ __proto__: null, reader: acquireReader(stream), preventCancel, ongoing: undefined, finished: false });
    setPrototypeOf(iterator, iteratorPrototype);
    return iterator;
  };
  const afterOthers = (state, steps) => {
    state.ongoing = state.ongoing === undefined ? steps() : react(state.ongoing, steps, steps);
    return state.ongoing;
  };
  // What ends the iteration, where a chunk would stand.
  const END = lib.Symbol("end");
  const nextOf = (state) => {
    if (state.finished) return resolved({ value: undefined, done: true });
    const { promise, resolve, reject } = settle();
    const release = () => {
      if (state.reader.stream !== undefined) releaseReader(state.reader);
    };
    readFrom(state.reader, {
      __proto__: null,
      // Wrapped, so that a chunk that is thenable is not waited for.
      chunk: (value) => resolve({ __proto__: null, value }),
      close: () => {
        release();
        resolve({ __proto__: null, value: END });
      },
      error: (reason) => {
        release();
        reject(reason);
      },
    });
    return react(promise, ({ value }) => {
      if (value !== END) return { value, done: false };
      state.finished = true;
      return { value: undefined, done: true };
    }, (reason) => {
      state.finished = true;
      throw reason;
    });
  };
  const returnOf = (state, value) => {
    const result = () => ({ value, done: true });
    if (state.finished) return resolved(result());
    state.finished = true;
    const { reader } = state;
    if (state.preventCancel) {
      releaseReader(reader);
      return resolved(result());
    }
    const canceled = cancelStream(reader.stream, value);
    releaseReader(reader);
    return react(canceled, result, rethrow);
  };
  const iteration = {
    next() {
      return promising(() => {
        const state = iteratorState(this);
        return afterOthers(state, () => nextOf(state));
      });
    },
    return(value) {
      return promising(() => {
        const state = iteratorState(this);
        return afterOthers(state, () => returnOf(state, value));
      });
    },
  };
  const iteratorPrototype = create(AsyncIteratorPrototype, {
    __proto__: null,
    next: { __proto__: null, value: iteration.next, enumerable: true, configurable: true, writable: true },
    return: { __proto__: null, value: iteration.return, enumerable: true, configurable: true, writable: true },
    [lib.tagSymbol]: { __proto__: null, value: "ReadableStream AsyncIterator", configurable: true },
  });

  // `from`: pulls an iterator, synchronous ones by what their values resolve to.
  const fromIterable = (iterable) => {
    if (iterable === undefined || iterable === null) throw new TypeError("The value is not iterable");
    let open = iterable[asyncIteratorSymbol];
    const sync = open === undefined || open === null;
    if (sync) open = iterable[iteratorSymbol];
    if (typeof open !== "function") throw new TypeError("The value is not iterable");
    const iterator = apply(open, iterable, []);
    if (!isObject(iterator)) throw new TypeError("The iterator is not an object");
    const { next } = iterator;
    const stream = createStream(
      (controller) => react(callAsync(next, iterator, []), (result) => {
        if (!isObject(result)) throw new TypeError("The iterator's result is not an object");
        if (result.done) {
          closeController(controller);
          return undefined;
        }
        const { value } = result;
        if (!sync) return enqueueChunk(controller, value);
        return react(value, (chunk) => enqueueChunk(controller, chunk), rethrow);
      }, rethrow),
      (reason) => {
        let stop;
        try {
          stop = iterator.return;
        } catch (error) {
          return rejected(error);
        }
        if (stop === undefined || stop === null) return undefined;
        return react(callAsync(stop, iterator, [reason]), (result) => {
          if (!isObject(result)) throw new TypeError("The iterator's result is not an object");
        }, rethrow);
      },
      0,
    );
    return stream;
  };
  // Two branches that see every chunk; `clones` makes the second see copies. Those of a byte stream are byte streams, which
  // read ahead of nobody, and never share a buffer.
  const tee = (stream, clones) => {
    const { bytes } = stream.controller;
    const reader = acquireReader(stream);
    const branches = list();
    const canceled = [false, false];
    const reasons = [undefined, undefined];
    const done = settle();
    let reading = false;
    let again = false;
    const pull = () => {
      if (reading) {
        again = true;
        return undefined;
      }
      reading = true;
      readFrom(reader, {
        __proto__: null,
        // In a job of its own: an error of the stream that is raised meanwhile comes first.
        chunk: (chunk) => {
          react(undefined, () => {
            again = false;
            let copy = chunk;
            if (bytes ? !canceled[0] && !canceled[1] : clones && !canceled[1]) {
              try {
                copy = bytes ? lib.copyBytes(bytesOf(chunk)) : lib.structuredClone(chunk);
              } catch (error) {
                errorController(branches[0].controller, error);
                errorController(branches[1].controller, error);
                follow(done, cancelStream(stream, error));
                return;
              }
            }
            if (!canceled[0]) enqueueChunk(branches[0].controller, chunk);
            if (!canceled[1]) enqueueChunk(branches[1].controller, copy);
            reading = false;
            if (again) pull();
          });
        },
        close: () => {
          reading = false;
          for (let i = 0; i < 2; i++) if (!canceled[i]) closeController(branches[i].controller);
          if (!canceled[0] || !canceled[1]) done.resolve();
        },
        error: () => {
          reading = false;
        },
      });
      return undefined;
    };
    const cancel = (index) => (reason) => {
      canceled[index] = true;
      reasons[index] = reason;
      if (canceled[1 - index]) follow(done, cancelStream(stream, [reasons[0], reasons[1]]));
      return done.promise;
    };
    const branch = (index) => makeStream(nothing, pull, cancel(index), bytes ? 0 : 1, bytes ? arrayBytes : countOne, bytes);
    append(branches, branch(0));
    append(branches, branch(1));
    react(reader.closed.promise, undefined, (error) => {
      errorController(branches[0].controller, error);
      errorController(branches[1].controller, error);
      if (!canceled[0] || !canceled[1]) done.resolve();
    });
    return branches;
  };

  lib.readableSlots = (stream) => slots(stream);
  lib.readable = {
    __proto__: null, acquireReader, releaseReader, readFrom, cancelStream, closeController, errorController, enqueueChunk, desiredSize,
    canEnqueue, shouldPull, tee,
  };
});
