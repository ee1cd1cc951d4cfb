// Piping a readable stream into a writable one (Streams, "ReadableStreamPipeTo").
(function (lib) {
  const { settle, resolved, react, handled, list, append, onAbort, abortState, TypeError } = lib;
  const { acquireReader, releaseReader, readFrom, cancelStream } = lib.readable;
  const { acquireWriter, releaseWriter, writeTo, abortStream, closeQueuedOrInFlight, closeWithErrorPropagation } = lib.writable;
  const nothing = () => undefined;

  lib.pipe = (source, target, { preventAbort, preventCancel, preventClose, signal }) => {
    const reader = acquireReader(source);
    const writer = acquireWriter(target);
    source.disturbed = true;
    const whole = settle();
    let ending = false;
    let write = resolved();
    let forget = nothing;

    const finish = (failed, error) => {
      releaseWriter(writer);
      releaseReader(reader);
      forget();
      if (failed) whole.reject(error);
      else whole.resolve();
    };
    // Chunks that were read are written before anything else happens.
    const afterWrites = (then) => {
      if (target.state !== "writable" || closeQueuedOrInFlight(target)) {
        then();
        return;
      }
      const waited = write;
      const again = () => (waited === write ? then() : afterWrites(then));
      react(waited, again, again);
    };
    const end = (action, failed, error) => {
      if (ending) return;
      ending = true;
      afterWrites(() => {
        if (action === undefined) finish(failed, error);
        else react(action(), () => finish(failed, error), (reason) => finish(true, reason));
      });
    };

    if (signal !== undefined) {
      const abort = () => {
        const { reason } = abortState(signal);
        const actions = list();
        if (!preventAbort) append(actions, () => (target.state === "writable" ? abortStream(target, reason) : resolved()));
        if (!preventCancel) append(actions, () => (source.state === "readable" ? cancelStream(source, reason) : resolved()));
        end(() => all(actions), true, reason);
      };
      if (abortState(signal).aborted) {
        abort();
        return whole.promise;
      }
      forget = onAbort(signal, abort);
    }

    // Errors and closing travel in this order of precedence.
    whenErrored(source, reader, (error) => {
      if (preventAbort) end(undefined, true, error);
      else end(() => abortStream(target, error), true, error);
    });
    whenErrored(target, writer, (error) => {
      if (preventCancel) end(undefined, true, error);
      else end(() => cancelStream(source, error), true, error);
    });
    const closed = () => {
      if (preventClose) end(undefined, false);
      else end(() => closeWithErrorPropagation(writer), false);
    };
    if (source.state === "closed") closed();
    else react(reader.closed.promise, closed, nothing);
    if (closeQueuedOrInFlight(target) || target.state === "closed") {
      const error = new TypeError("The destination of the pipe is closed.");
      if (preventCancel) end(undefined, true, error);
      else end(() => cancelStream(source, error), true, error);
    }

    const pass = ({ value }) => {
      // The writer is gone when the destination failed meanwhile.
      if (writer.stream !== undefined) write = handled(writeTo(writer, value));
    };
    const step = () => {
      if (!ending) react(writer.ready.promise, move, nothing);
    };
    const move = () => {
      if (ending) return;
      const read = settle();
      let reading = true;
      let taken;
      readFrom(reader, {
        __proto__: null,
        // Not written from in here: whoever enqueues it must not run code of the destination. Until it is, the pipe does
        // not end.
        chunk: (value) => {
          const chunk = { __proto__: null, value };
          write = read.promise;
          if (reading) taken = chunk;
          else read.resolve(chunk);
        },
        close: () => read.resolve(),
        error: () => read.resolve(),
      });
      reading = false;
      if (taken !== undefined) {
        pass(taken);
        read.resolve(taken);
      }
      react(read.promise, (chunk) => {
        if (chunk === undefined) return;
        if (chunk !== taken) pass(chunk);
        step();
      });
    };
    step();
    return whole.promise;
  };

  const whenErrored = (stream, holder, action) => {
    if (stream.state === "errored") action(stream.error);
    else react(holder.closed.promise, nothing, action);
  };
  // All at once; the first failure counts.
  const all = (actions) => {
    const { promise, resolve, reject } = settle();
    let left = actions.length;
    if (left === 0) resolve();
    for (let i = 0; i < actions.length; i++) {
      react(actions[i](), () => {
        left -= 1;
        if (left === 0) resolve();
      }, reject);
    }
    return promise;
  };
});
