// WritableStream, its writer and controller (Streams, section 5).
(function (lib) {
  const {
    apply, define, expose, guard, secret, illegal, need, isObject, settle, resolved, rejected, react, handled, newQueue, enqueue: enqueueTo,
    dequeue, resetQueue, checkSize, strategyOf, markOf, countOne, algorithm, callAsync, promising, newSignal, signalAbort,
    RangeError, TypeError,
  } = lib;
  const nothing = () => undefined;
  // Stands for the close in a controller's queue.
  const closeMark = lib.Symbol("close");

  const newStream = () => ({
    __proto__: null, object: undefined, state: "writable", error: undefined, writer: undefined, controller: undefined, requests: newQueue(),
    writing: undefined, closeRequest: undefined, closing: undefined, abortion: undefined, backpressure: false,
  });
  // A stream whose algorithms are ours: `write(chunk, controller)`, `close()`, `abort(reason)`.
  lib.createWritable = (write, close, abort, mark = 1, size = countOne, start = nothing) => {
    const stream = newStream();
    stream.object = new WritableStream(secret, stream);
    newController(stream, start, write, close, abort, mark, size);
    return stream;
  };
  const closeQueuedOrInFlight = (stream) => stream.closeRequest !== undefined || stream.closing !== undefined;

  const abortStream = (stream, reason) => {
    if (stream.state === "closed" || stream.state === "errored") return resolved();
    signalAbort(stream.controller.signal, reason);
    const { state } = stream;
    if (state === "closed" || state === "errored") return resolved();
    if (stream.abortion !== undefined) return stream.abortion.promise;
    const wasErroring = state === "erroring";
    const { promise, resolve, reject } = settle();
    stream.abortion = { __proto__: null, promise, resolve, reject, reason: wasErroring ? undefined : reason, wasErroring };
    if (!wasErroring) startErroring(stream, reason);
    return promise;
  };
  const closeStream = (stream) => {
    const { state, writer, controller } = stream;
    if (state === "closed" || state === "errored") return rejected(new TypeError("Cannot close a WritableStream that is " + state + "."));
    const request = settle();
    stream.closeRequest = request;
    if (writer !== undefined && stream.backpressure && state === "writable") resolveReady(writer);
    enqueueTo(controller.queue, closeMark, 0);
    advance(controller);
    return request.promise;
  };
  const dealWithRejection = (stream, error) => {
    if (stream.state === "writable") startErroring(stream, error);
    else finishErroring(stream);
  };
  const startErroring = (stream, reason) => {
    const { controller, writer } = stream;
    stream.state = "erroring";
    stream.error = reason;
    if (writer !== undefined) rejectReady(writer, reason);
    if (stream.writing === undefined && stream.closing === undefined && controller.started) finishErroring(stream);
  };
  const finishErroring = (stream) => {
    stream.state = "errored";
    resetQueue(stream.controller.queue);
    const { error, abortion, requests } = stream;
    stream.requests = newQueue();
    while (requests.length > 0) dequeue(requests).reject(error);
    if (abortion === undefined) {
      rejectCloseAndClosed(stream);
      return;
    }
    stream.abortion = undefined;
    if (abortion.wasErroring) {
      abortion.reject(error);
      rejectCloseAndClosed(stream);
      return;
    }
    const { controller } = stream;
    const result = controller.abort(abortion.reason);
    clearAlgorithms(controller);
    react(result, () => {
      abortion.resolve();
      rejectCloseAndClosed(stream);
    }, (reason) => {
      abortion.reject(reason);
      rejectCloseAndClosed(stream);
    });
  };
  const rejectCloseAndClosed = (stream) => {
    if (stream.closeRequest !== undefined) {
      stream.closeRequest.reject(stream.error);
      stream.closeRequest = undefined;
    }
    if (stream.writer !== undefined) rejectClosed(stream.writer, stream.error);
  };
  const updateBackpressure = (stream, backpressure) => {
    const { writer } = stream;
    if (writer !== undefined && backpressure !== stream.backpressure) {
      if (backpressure) {
        writer.ready = settle();
        writer.readyPending = true;
      } else {
        resolveReady(writer);
      }
    }
    stream.backpressure = backpressure;
  };

  // Controllers.
  const newController = (stream, start, write, close, abort, mark, size) => {
    const controller = { __proto__: null, object: undefined, stream, queue: newQueue(), started: false, mark, size, write, close, abort, signal: newSignal() };
    controller.object = new WritableStreamDefaultController(secret, controller);
    stream.controller = controller;
    updateBackpressure(stream, desiredSizeOf(controller) <= 0);
    const begun = start(controller);
    react(begun, () => {
      controller.started = true;
      advance(controller);
    }, (error) => {
      controller.started = true;
      dealWithRejection(stream, error);
    });
  };
  const clearAlgorithms = (controller) => {
    controller.write = controller.close = controller.abort = nothing;
    controller.size = countOne;
  };
  const desiredSizeOf = (controller) => controller.mark - controller.queue.total;
  const errorController = (controller, error) => {
    clearAlgorithms(controller);
    startErroring(controller.stream, error);
  };
  const errorIfNeeded = (controller, error) => {
    if (controller.stream.state === "writable") errorController(controller, error);
  };
  const chunkSize = (controller, chunk) => {
    try {
      return controller.size(chunk);
    } catch (error) {
      errorIfNeeded(controller, error);
      return 1;
    }
  };
  const advance = (controller) => {
    const { stream, queue } = controller;
    if (!controller.started || stream.writing !== undefined) return;
    if (stream.state === "erroring") {
      finishErroring(stream);
      return;
    }
    if (queue.length === 0) return;
    const { value } = queue.first;
    if (value === closeMark) processClose(controller);
    else processWrite(controller, value);
  };
  const processClose = (controller) => {
    const { stream } = controller;
    stream.closing = stream.closeRequest;
    stream.closeRequest = undefined;
    dequeue(controller.queue);
    const { close } = controller;
    const result = close();
    clearAlgorithms(controller);
    react(result, () => {
      stream.closing.resolve();
      stream.closing = undefined;
      if (stream.state === "erroring") {
        stream.error = undefined;
        if (stream.abortion !== undefined) {
          stream.abortion.resolve();
          stream.abortion = undefined;
        }
      }
      stream.state = "closed";
      if (stream.writer !== undefined) resolveClosed(stream.writer);
    }, (error) => {
      stream.closing.reject(error);
      stream.closing = undefined;
      if (stream.abortion !== undefined) {
        stream.abortion.reject(error);
        stream.abortion = undefined;
      }
      dealWithRejection(stream, error);
    });
  };
  const processWrite = (controller, chunk) => {
    const { stream } = controller;
    stream.writing = dequeue(stream.requests);
    react(controller.write(chunk, controller), () => {
      stream.writing.resolve();
      stream.writing = undefined;
      const { state } = stream;
      dequeue(controller.queue);
      if (!closeQueuedOrInFlight(stream) && state === "writable") updateBackpressure(stream, desiredSizeOf(controller) <= 0);
      advance(controller);
    }, (error) => {
      if (stream.state === "writable") clearAlgorithms(controller);
      stream.writing.reject(error);
      stream.writing = undefined;
      dealWithRejection(stream, error);
    });
  };

  let slots;
  class WritableStream {
    #slots;
    constructor(sink = undefined, strategy = undefined) {
      if (sink === secret) {
        this.#slots = strategy;
        return;
      }
      if (sink !== undefined && !isObject(sink)) throw new TypeError("The underlying sink is not an object");
      const given = strategyOf(strategy);
      const holder = sink === undefined ? { __proto__: null } : sink;
      const abort = algorithm(holder, "abort");
      const close = algorithm(holder, "close");
      const start = algorithm(holder, "start");
      if (holder.type !== undefined) throw new RangeError("The type of an underlying sink must be undefined");
      const write = algorithm(holder, "write");
      const mark = markOf(given, 1);
      lib.needStack();
      const stream = newStream();
      stream.object = this;
      this.#slots = stream;
      newController(
        stream,
        start === undefined ? nothing : (controller) => resolved(apply(start, sink, [controller.object])),
        write === undefined ? nothing : (chunk, controller) => callAsync(write, sink, [chunk, controller.object]),
        close === undefined ? nothing : () => callAsync(close, sink, []),
        abort === undefined ? nothing : (reason) => callAsync(abort, sink, [reason]),
        mark,
        given.size ?? countOne,
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
      lib.isWritableStream = (value) => isObject(value) && #slots in value;
    }
    get locked() {
      return slots(this).writer !== undefined;
    }
    abort(reason = undefined) {
      return promising(() => {
        const stream = slots(this);
        if (stream.writer !== undefined) throw locked();
        return abortStream(stream, reason);
      });
    }
    close() {
      return promising(() => {
        const stream = slots(this);
        if (stream.writer !== undefined) throw locked();
        if (closeQueuedOrInFlight(stream)) throw new TypeError("This WritableStream is already being closed.");
        return closeStream(stream);
      });
    }
    getWriter() {
      const { object } = slots(this);
      lib.needStack();
      return new WritableStreamDefaultWriter(object);
    }
  }
  const locked = () => new TypeError("This WritableStream is currently locked to a writer.");
  define(WritableStream, lib.isWritableStream);
  expose("WritableStream", WritableStream);

  // Writers.
  const acquireWriter = (stream) => {
    if (stream.writer !== undefined) throw locked();
    const writer = { __proto__: null, object: undefined, stream, ready: settle(), closed: settle(), readyPending: true, closedPending: true };
    stream.writer = writer;
    switch (stream.state) {
      case "writable":
        if (closeQueuedOrInFlight(stream) || !stream.backpressure) resolveReady(writer);
        break;
      case "erroring":
        rejectReady(writer, stream.error);
        break;
      case "closed":
        resolveReady(writer);
        resolveClosed(writer);
        break;
      default:
        rejectReady(writer, stream.error);
        rejectClosed(writer, stream.error);
    }
    return writer;
  };
  const resolveReady = (writer) => {
    writer.readyPending = false;
    writer.ready.resolve();
  };
  const resolveClosed = (writer) => {
    writer.closedPending = false;
    writer.closed.resolve();
  };
  // Rejecting a promise that is settled already means a new one: a writer shows the latest state.
  const rejectReady = (writer, error) => {
    if (!writer.readyPending) writer.ready = settle();
    writer.readyPending = false;
    writer.ready.reject(error);
    handled(writer.ready.promise);
  };
  const rejectClosed = (writer, error) => {
    if (!writer.closedPending) writer.closed = settle();
    writer.closedPending = false;
    writer.closed.reject(error);
    handled(writer.closed.promise);
  };
  const releaseWriter = (writer) => {
    // First: to make an error may run the program, which may release it.
    const error = gone();
    const { stream } = writer;
    if (stream === undefined) return;
    rejectReady(writer, error);
    rejectClosed(writer, error);
    stream.writer = undefined;
    writer.stream = undefined;
  };
  const writeTo = (writer, chunk) => {
    const { stream } = writer;
    const { controller } = stream;
    const size = chunkSize(controller, chunk);
    let refused;
    try {
      checkSize(size);
    } catch (error) {
      refused = { __proto__: null, error };
    }
    if (stream !== writer.stream) return rejected(gone());
    if (stream.state === "errored") return rejected(stream.error);
    if (closeQueuedOrInFlight(stream) || stream.state === "closed") return rejected(new TypeError("Cannot write to a WritableStream that is closing or closed."));
    if (stream.state === "erroring") return rejected(stream.error);
    const request = settle();
    enqueueTo(stream.requests, request);
    if (refused !== undefined) {
      errorIfNeeded(controller, refused.error);
      return request.promise;
    }
    enqueueTo(controller.queue, chunk, size);
    if (!closeQueuedOrInFlight(stream) && stream.state === "writable") updateBackpressure(stream, desiredSizeOf(controller) <= 0);
    advance(controller);
    return request.promise;
  };
  const gone = () => new TypeError("This WritableStream writer has been released.");
  const closeWithErrorPropagation = (writer) => {
    const { stream } = writer;
    if (closeQueuedOrInFlight(stream) || stream.state === "closed") return resolved();
    if (stream.state === "errored") return rejected(stream.error);
    return closeStream(stream);
  };

  let writerSlots;
  class WritableStreamDefaultWriter {
    #slots;
    constructor(stream) {
      need(arguments.length, 1, "constructor' on 'WritableStreamDefaultWriter");
      if (!lib.isWritableStream(stream)) throw new TypeError("The stream is not a WritableStream");
      this.#slots = acquireWriter(slots(stream));
      this.#slots.object = this;
    }
    static {
      writerSlots = (writer) => {
        try {
          return writer.#slots;
        } catch {
          return illegal();
        }
      };
    }
    get closed() {
      return promising(() => writerSlots(this).closed.promise);
    }
    get desiredSize() {
      const { stream } = writerSlots(this);
      if (stream === undefined) throw gone();
      if (stream.state === "errored" || stream.state === "erroring") return null;
      return stream.state === "closed" ? 0 : desiredSizeOf(stream.controller);
    }
    get ready() {
      return promising(() => writerSlots(this).ready.promise);
    }
    abort(reason = undefined) {
      return promising(() => {
        const { stream } = writerSlots(this);
        if (stream === undefined) throw gone();
        return abortStream(stream, reason);
      });
    }
    close() {
      return promising(() => {
        const { stream } = writerSlots(this);
        if (stream === undefined) throw gone();
        if (closeQueuedOrInFlight(stream)) throw new TypeError("This WritableStream is already being closed.");
        return closeStream(stream);
      });
    }
    releaseLock() {
      const writer = writerSlots(this);
      lib.needStack();
      if (writer.stream !== undefined) releaseWriter(writer);
    }
    write(chunk = undefined) {
      return promising(() => {
        const writer = writerSlots(this);
        if (writer.stream === undefined) throw gone();
        return writeTo(writer, chunk);
      });
    }
  }
  define(WritableStreamDefaultWriter);
  expose("WritableStreamDefaultWriter", WritableStreamDefaultWriter);

  let controllerSlots;
  class WritableStreamDefaultController {
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
    get signal() {
      return controllerSlots(this).signal;
    }
    error(reason = undefined) {
      const controller = controllerSlots(this);
      lib.needStack();
      errorIfNeeded(controller, reason);
    }
  }
  define(WritableStreamDefaultController);
  expose("WritableStreamDefaultController", WritableStreamDefaultController);

  lib.writableSlots = (stream) => slots(stream);
  lib.writable = {
    __proto__: null, acquireWriter, releaseWriter, writeTo, abortStream, closeStream, closeQueuedOrInFlight, closeWithErrorPropagation,
    errorIfNeeded,
  };
});
