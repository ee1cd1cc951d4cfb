// AbortController and AbortSignal (DOM, section 3).
(function (lib) {
  const { define, expose, construct, guard, illegal, isObject, need, list, append, EventTarget, DOMException, TypeError, enforceRange, sequence, handler, fire } = lib;
  const { Event } = lib.global;

  let slots;
  class Abortable extends EventTarget {
    // `algorithms` run before the event; `sources` and `dependents` link what `any` made.
    #slots = { __proto__: null, aborted: false, reason: undefined, algorithms: list(), dependent: false, sources: list(), dependents: list() };
    constructor() {
      super();
    }
    static {
      slots = (signal) => {
        try {
          return signal.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isAbortSignal = (value) => isObject(value) && #slots in value;
    }
  }
  const newSignal = (lib.newSignal = () => construct(Abortable, [], AbortSignal));
  class AbortSignal extends EventTarget {
    constructor(token = undefined) {
      guard(token);
      return newSignal();
    }
    static abort(reason = undefined) {
      const signal = newSignal();
      const state = slots(signal);
      state.aborted = true;
      state.reason = reason === undefined ? abortError() : reason;
      return signal;
    }
    static any(signals) {
      need(arguments.length, 1, "any' on 'AbortSignal");
      return dependentOn(sequence(signals, toSignal, "signals"));
    }
    static timeout(milliseconds) {
      need(arguments.length, 1, "timeout' on 'AbortSignal");
      const delay = enforceRange(milliseconds, 9007199254740991, "milliseconds");
      const signal = newSignal();
      lib.startTimer(delay, () => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")));
      return signal;
    }
    get aborted() {
      return slots(this).aborted;
    }
    get reason() {
      return slots(this).reason;
    }
    throwIfAborted() {
      const { aborted, reason } = slots(this);
      if (aborted) throw reason;
    }
    get onabort() {
      slots(this);
      return onabort.get(this);
    }
    set onabort(value) {
      slots(this);
      onabort.set(this, value);
    }
  }
  const onabort = handler("abort");
  const abortError = () => new DOMException("The operation was aborted", "AbortError");
  const toSignal = (value) => {
    if (!lib.isAbortSignal(value)) throw new TypeError("The value is not an AbortSignal");
    return value;
  };

  const dependentOn = (lib.dependentOn = (signals) => {
    const result = newSignal();
    const state = slots(result);
    for (let i = 0; i < signals.length; i++) {
      const source = slots(signals[i]);
      if (source.aborted) {
        state.aborted = true;
        state.reason = source.reason;
        return result;
      }
    }
    state.dependent = true;
    const link = (signal) => {
      const source = slots(signal);
      if (lib.indexOfList(state.sources, signal) !== -1) return;
      append(state.sources, signal);
      append(source.dependents, result);
    };
    for (let i = 0; i < signals.length; i++) {
      const source = slots(signals[i]);
      if (!source.dependent) link(signals[i]);
      else for (let j = 0; j < source.sources.length; j++) link(source.sources[j]);
    }
    return result;
  });

  const abort = (lib.signalAbort = (signal, reason) => {
    const state = slots(signal);
    if (state.aborted) return;
    lib.needStack();
    const given = reason === undefined ? abortError() : reason;
    // Making an error may have run the program, which aborted it.
    if (state.aborted) return;
    state.aborted = true;
    state.reason = given;
    // All dependents are aborted before any of them is told.
    const told = list();
    append(told, signal);
    for (let i = 0; i < state.dependents.length; i++) {
      const dependent = slots(state.dependents[i]);
      if (dependent.aborted) continue;
      dependent.aborted = true;
      dependent.reason = state.reason;
      append(told, state.dependents[i]);
    }
    for (let i = 0; i < told.length; i++) tell(told[i]);
  });
  const tell = (signal) => {
    const state = slots(signal);
    const { algorithms } = state;
    state.algorithms = list();
    for (let i = 0; i < algorithms.length; i++) algorithms[i].run?.();
    fire(signal, new Event("abort"));
  };

  lib.abortState = (signal) => slots(signal);
  // Runs `algorithm` once when the signal aborts; the result takes it back.
  lib.onAbort = (signal, algorithm) => {
    const entry = { __proto__: null, run: algorithm };
    append(slots(signal).algorithms, entry);
    return () => {
      entry.run = undefined;
      const { algorithms } = slots(signal);
      const at = lib.indexOfList(algorithms, entry);
      if (at !== -1) lib.removeAt(algorithms, at);
    };
  };
  define(AbortSignal, lib.isAbortSignal);
  expose("AbortSignal", AbortSignal);

  class AbortController {
    #signal = newSignal();
    constructor() {}
    get signal() {
      try {
        return this.#signal;
      } catch {
        return illegal();
      }
    }
    abort(reason = undefined) {
      let signal;
      try {
        signal = this.#signal;
      } catch {
        illegal();
      }
      abort(signal, reason);
    }
    static {
      lib.isAbortController = (value) => isObject(value) && #signal in value;
    }
  }
  define(AbortController, lib.isAbortController);
  expose("AbortController", AbortController);
  lib.AbortController = AbortController;
});
