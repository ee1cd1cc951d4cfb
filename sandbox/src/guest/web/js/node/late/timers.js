// `timers/promises`.
(function (lib) {
  const {
    startTimer, stopTimer, settle, abortError, abortState, onAbort, needSignal, needBoolean, isObject, badType, defineProperty, resolved,
    rejected, AsyncIteratorPrototype, create, list, append, shift,
  } = lib;

  const optionsOf = (options) => {
    if (options === undefined) return { __proto__: null, signal: undefined };
    if (!isObject(options) || typeof options === "function") throw badType("options", "of type object", options);
    const { signal, ref } = options;
    needSignal(signal, "options.signal");
    if (ref !== undefined) needBoolean(ref, "options.ref");
    return { __proto__: null, signal };
  };
  const delayOf = (delay) => {
    const number = +delay;
    return number >= 1 && number <= 2147483647 ? lib.trunc(number) : 1;
  };
  const wait = (delay, value, options) => {
    let signal;
    try {
      ({ signal } = optionsOf(options));
    } catch (error) {
      return rejected(error);
    }
    if (signal !== undefined && abortState(signal).aborted) return rejected(abortError(abortState(signal).reason));
    const { promise, resolve, reject } = settle();
    let forget;
    const timer = startTimer(delay, () => {
      if (forget !== undefined) forget();
      resolve(value);
    });
    if (signal !== undefined) {
      forget = onAbort(signal, () => {
        stopTimer(timer);
        reject(abortError(abortState(signal).reason));
      });
    }
    return promise;
  };

  // Each tick is kept until it is asked for; the timer stops with the loop that reads it.
  const interval = (delay, value, options) => {
    const { signal } = optionsOf(options);
    const state = { __proto__: null, ticks: 0, waiting: list(), timer: undefined, forget: undefined, failed: undefined, done: false };
    const tick = () => {
      state.timer = startTimer(delay, tick);
      if (state.waiting.length > 0) shift(state.waiting).resolve({ value, done: false });
      else state.ticks += 1;
    };
    const stop = () => {
      state.done = true;
      stopTimer(state.timer);
      state.forget?.();
      while (state.waiting.length > 0) shift(state.waiting).resolve({ value: undefined, done: true });
    };
    const open = () => {
      if (signal !== undefined) {
        if (abortState(signal).aborted) {
          state.failed = abortError(abortState(signal).reason);
          return;
        }
        state.forget = onAbort(signal, () => {
          const error = abortError(abortState(signal).reason);
          stopTimer(state.timer);
          if (state.waiting.length > 0) {
            shift(state.waiting).reject(error);
            stop();
          } else state.failed = error;
        });
      }
      state.timer = startTimer(delay, tick);
    };
    let opened = false;
    const iterator = create(AsyncIteratorPrototype);
    const members = {
      next() {
        if (!opened) {
          opened = true;
          open();
        }
        if (state.failed !== undefined) {
          const error = state.failed;
          state.failed = undefined;
          stop();
          return rejected(error);
        }
        if (state.done) return resolved({ value: undefined, done: true });
        if (state.ticks > 0) {
          state.ticks -= 1;
          return resolved({ value, done: false });
        }
        const waiting = settle();
        append(state.waiting, waiting);
        return waiting.promise;
      },
      return(result) {
        opened = true;
        stop();
        return resolved({ value: result, done: true });
      },
    };
    defineProperty(iterator, "next", { __proto__: null, value: members.next, writable: true, enumerable: false, configurable: true });
    defineProperty(iterator, "return", { __proto__: null, value: members.return, writable: true, enumerable: false, configurable: true });
    return iterator;
  };

  const timers = {
    setTimeout(delay, value, options) {
      return wait(delayOf(delay), value, options);
    },
    setImmediate(value, options) {
      return wait(0, value, options);
    },
    setInterval(delay, value, options) {
      return interval(delayOf(delay), value, options);
    },
    scheduler: {
      wait(delay, options) {
        return wait(delayOf(delay), undefined, options);
      },
      yield() {
        return wait(0, undefined, undefined);
      },
    },
  };
  return { __proto__: null, ...timers, default: timers };
});
