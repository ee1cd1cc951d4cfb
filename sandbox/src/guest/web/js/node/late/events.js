// `events`: EventEmitter and its helpers. What an emitter holds is on the emitter, under Node's names.
(function (lib) {
  const {
    apply, native, ownKeys, getPrototypeOf, defineProperty, create, Symbol, symbolFor, Error, list, append, arrayOf, shift, removeAt, isObject,
    needFunction, needNumber, needObject, needSignal, needBoolean, badType, coded, abortError, abortState, onAbort, settle, resolved,
    rejected, AsyncIteratorPrototype, process,
  } = lib;
  const { inspect } = lib.load("node/late/inspect.js");
  const { nextTick } = process;

  const kCapture = Symbol("kCapture"), shapeMode = Symbol("shapeMode");
  const errorMonitor = Symbol("events.errorMonitor");
  const captureRejectionSymbol = symbolFor("nodejs.rejection");
  let defaultMaxListeners = 10;

  function EventEmitter(options) {
    init(this, options);
  }
  const { prototype } = EventEmitter;
  const init = (emitter, options) => {
    if (emitter._events === undefined || emitter._events === getPrototypeOf(emitter)._events) {
      emitter._events = create(null);
      emitter._eventsCount = 0;
    }
    emitter._maxListeners = emitter._maxListeners || undefined;
    emitter[shapeMode] = false;
    if (options?.captureRejections) {
      needBoolean(options.captureRejections, "options.captureRejections");
      emitter[kCapture] = true;
    } else emitter[kCapture] = prototype[kCapture];
  };

  const hidden = (holder, name, value) => defineProperty(holder, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  const visible = (holder, name, value) => defineProperty(holder, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

  // A list with one more item in front.
  const before = (item, items) => {
    const all = list();
    append(all, item);
    for (let i = 0; i < items.length; i++) append(all, items[i]);
    return all;
  };
  // Listeners of a type are one function, or a list of several.
  const copyOf = (listeners) => {
    const copy = list();
    if (typeof listeners === "function") append(copy, listeners);
    else for (let i = 0; i < listeners.length; i++) append(copy, listeners[i]);
    return copy;
  };
  const add = (emitter, type, listener, first) => {
    needFunction(listener, "listener");
    let events = emitter._events;
    if (events === undefined) {
      events = emitter._events = create(null);
      emitter._eventsCount = 0;
    } else if (events.newListener !== undefined) {
      emitter.emit("newListener", type, listener.listener ?? listener);
      // A listener may have replaced them.
      events = emitter._events;
    }
    const present = events[type];
    if (present === undefined) {
      events[type] = listener;
      emitter._eventsCount += 1;
    } else if (typeof present === "function") events[type] = first ? [listener, present] : [present, listener];
    else if (first) events[type] = arrayOf(before(listener, present));
    else native.put(present, present.length, listener);
    return emitter;
  };
  const onceWrapper = (emitter, type, listener) => {
    const state = { __proto__: null, fired: false };
    const wrapped = function (...args) {
      if (state.fired) return undefined;
      emitter.removeListener(type, wrapped);
      state.fired = true;
      return apply(listener, emitter, args);
    };
    wrapped.listener = listener;
    defineProperty(wrapped, "name", { __proto__: null, value: "bound onceWrapper", configurable: true });
    return wrapped;
  };
  const remove = (emitter, type, listener) => {
    needFunction(listener, "listener");
    const events = emitter._events;
    const present = events?.[type];
    if (present === undefined) return emitter;
    if (present === listener || present.listener === listener) {
      emitter._eventsCount -= 1;
      if (emitter._eventsCount === 0) emitter._events = create(null);
      else delete events[type];
      if (events.removeListener !== undefined) emitter.emit("removeListener", type, present.listener ?? listener);
      return emitter;
    }
    if (typeof present === "function") return emitter;
    let at = -1;
    for (let i = present.length - 1; i >= 0 && at < 0; i--) if (present[i] === listener || present[i].listener === listener) at = i;
    if (at < 0) return emitter;
    // An emission that is under way goes through a copy.
    removeAt(present, at);
    if (present.length === 1) events[type] = present[0];
    if (events.removeListener !== undefined) emitter.emit("removeListener", type, listener);
    return emitter;
  };
  const isError = (value) => isObject(value) && lib.instanceOf(value, Error);
  const throwUnheard = (args) => {
    const error = args[0];
    if (isError(error)) throw error;
    let text;
    try {
      text = inspect(error);
    } catch {
      text = error;
    }
    const unheard = coded(Error, "ERR_UNHANDLED_ERROR", "Unhandled error. (" + text + ")");
    visible(unheard, "context", error);
    throw unheard;
  };
  const catchRejection = (emitter, result, type, args) => {
    if (!emitter[kCapture] || !isObject(result)) return;
    try {
      const { then } = result;
      if (typeof then !== "function") return;
      apply(then, result, [undefined, (error) => {
        nextTick(() => {
          if (typeof emitter[captureRejectionSymbol] === "function") {
            apply(emitter[captureRejectionSymbol], emitter, before(error, before(type, args)));
            return;
          }
          const captures = emitter[kCapture];
          try {
            emitter[kCapture] = false;
            emitter.emit("error", error);
          } finally {
            emitter[kCapture] = captures;
          }
        });
      }]);
    } catch (error) {
      emitter.emit("error", error);
    }
  };
  const listenersOf = (emitter, type, unwrap) => {
    const present = emitter._events?.[type];
    if (present === undefined) return [];
    const copy = copyOf(present);
    if (unwrap) for (let i = 0; i < copy.length; i++) copy[i] = copy[i].listener ?? copy[i];
    return arrayOf(copy);
  };
  const count = (emitter, type, listener) => {
    const present = emitter._events?.[type];
    if (present === undefined) return 0;
    if (listener === undefined || listener === null) return typeof present === "function" ? 1 : present.length;
    const all = copyOf(present);
    let matching = 0;
    for (let i = 0; i < all.length; i++) if (all[i] === listener || all[i].listener === listener) matching += 1;
    return matching;
  };
  const maxListeners = (emitter) => (emitter._maxListeners === undefined ? defaultMaxListeners : emitter._maxListeners);
  const setMax = (n, name) => {
    needNumber(n, name, 0);
  };

  const members = {
    setMaxListeners(n) {
      setMax(n, "setMaxListeners");
      this._maxListeners = n;
      return this;
    },
    getMaxListeners() {
      return maxListeners(this);
    },
    emit(type, ...args) {
      const events = this._events;
      let isUnheardError = type === "error";
      if (events !== undefined) {
        if (isUnheardError && events[errorMonitor] !== undefined) apply(this.emit, this, before(errorMonitor, args));
        isUnheardError &&= events.error === undefined;
      }
      if (isUnheardError) throwUnheard(args);
      const present = events?.[type];
      if (present === undefined) return false;
      if (typeof present === "function") {
        catchRejection(this, apply(present, this, args), type, args);
        return true;
      }
      const listeners = copyOf(present);
      for (let i = 0; i < listeners.length; i++) catchRejection(this, apply(listeners[i], this, args), type, args);
      return true;
    },
    addListener(type, listener) {
      return add(this, type, listener, false);
    },
    prependListener(type, listener) {
      return add(this, type, listener, true);
    },
    once(type, listener) {
      needFunction(listener, "listener");
      this.on(type, onceWrapper(this, type, listener));
      return this;
    },
    prependOnceListener(type, listener) {
      needFunction(listener, "listener");
      this.prependListener(type, onceWrapper(this, type, listener));
      return this;
    },
    removeListener(type, listener) {
      return remove(this, type, listener);
    },
    removeAllListeners(type) {
      const events = this._events;
      if (events === undefined) return this;
      if (events.removeListener === undefined) {
        if (arguments.length === 0) {
          this._events = create(null);
          this._eventsCount = 0;
        } else if (events[type] !== undefined) {
          this._eventsCount -= 1;
          if (this._eventsCount === 0) this._events = create(null);
          else delete events[type];
        }
        return this;
      }
      if (arguments.length === 0) {
        const types = ownKeys(events);
        for (let i = 0; i < types.length; i++) if (types[i] !== "removeListener") this.removeAllListeners(types[i]);
        this.removeAllListeners("removeListener");
        this._events = create(null);
        this._eventsCount = 0;
        return this;
      }
      if (events[type] !== undefined) {
        const listeners = copyOf(events[type]);
        for (let i = listeners.length - 1; i >= 0; i--) this.removeListener(type, listeners[i]);
      }
      return this;
    },
    listeners(type) {
      return listenersOf(this, type, true);
    },
    rawListeners(type) {
      return listenersOf(this, type, false);
    },
    listenerCount(type, listener) {
      return count(this, type, listener);
    },
    eventNames() {
      return this._eventsCount > 0 ? ownKeys(this._events) : [];
    },
  };
  const names = ownKeys(members);
  for (let i = 0; i < names.length; i++) visible(prototype, names[i], members[names[i]]);
  visible(prototype, "on", members.addListener);
  visible(prototype, "off", members.removeListener);
  visible(prototype, "_events", undefined);
  visible(prototype, "_eventsCount", 0);
  visible(prototype, "_maxListeners", undefined);
  hidden(prototype, kCapture, false);

  // Listens on an emitter or on an event target; returns what stops it.
  const listen = (emitter, name, listener, once) => {
    if (typeof emitter?.on === "function") {
      if (once) emitter.once(name, listener);
      else emitter.on(name, listener);
      return () => emitter.removeListener(name, listener);
    }
    if (typeof emitter?.addEventListener === "function") {
      emitter.addEventListener(name, listener, { once });
      return () => emitter.removeEventListener(name, listener);
    }
    throw badType("emitter", "an instance of EventEmitter", emitter);
  };

  // Settles with the arguments of the next event of this name.
  const once = async (emitter, name, options = {}) => {
    needObject(options, "options");
    const { signal } = options;
    needSignal(signal, "options.signal");
    if (signal !== undefined && abortState(signal).aborted) throw abortError(abortState(signal).reason);
    const { promise, resolve, reject } = settle();
    const stops = list();
    const stopAll = () => {
      for (let i = 0; i < stops.length; i++) stops[i]();
    };
    append(stops, listen(emitter, name, (...args) => {
      stopAll();
      resolve(args);
    }, true));
    if (name !== "error" && typeof emitter.once === "function") {
      append(stops, listen(emitter, "error", (error) => {
        stopAll();
        reject(error);
      }, true));
    }
    if (signal !== undefined) {
      append(stops, onAbort(signal, () => {
        stopAll();
        reject(abortError(abortState(signal).reason));
      }));
    }
    // Asynchronous, as Node's is: what a program has for `then` is asked, and sees the arguments of the event.
    return promise;
  };

  // What the events of this name are emitted with, one after the other.
  const on = (emitter, name, options = {}) => {
    needObject(options, "options");
    const { signal, close } = options;
    needSignal(signal, "options.signal");
    if (signal !== undefined && abortState(signal).aborted) throw abortError(abortState(signal).reason);
    const events = list(), waiting = list(), stops = list();
    let failed, isFailed = false, isDone = false;
    const stopAll = () => {
      for (let i = 0; i < stops.length; i++) stops[i]();
      stops.length = 0;
    };
    const finish = () => {
      isDone = true;
      stopAll();
      while (waiting.length > 0) shift(waiting).resolve({ value: undefined, done: true });
    };
    const fail = (error) => {
      if (waiting.length > 0) shift(waiting).reject(error);
      else {
        failed = error;
        isFailed = true;
      }
      finish();
    };
    append(stops, listen(emitter, name, (...args) => {
      if (waiting.length > 0) shift(waiting).resolve({ value: args, done: false });
      else append(events, args);
    }, false));
    if (name !== "error" && typeof emitter.on === "function") append(stops, listen(emitter, "error", fail, false));
    if (close !== undefined) for (let i = 0; i < close.length; i++) append(stops, listen(emitter, close[i], finish, false));
    if (signal !== undefined) append(stops, onAbort(signal, () => fail(abortError(abortState(signal).reason))));
    const iterator = create(AsyncIteratorPrototype);
    const steps = {
      next() {
        if (events.length > 0) return resolved({ value: shift(events), done: false });
        if (isFailed) {
          isFailed = false;
          return rejected(failed);
        }
        if (isDone) return resolved({ value: undefined, done: true });
        const deferred = settle();
        append(waiting, deferred);
        return deferred.promise;
      },
      return() {
        finish();
        return resolved({ value: undefined, done: true });
      },
      throw(error) {
        if (!isError(error)) throw badType("EventEmitter.AsyncIterator", "an instance of Error", error);
        fail(error);
        return resolved({ value: undefined, done: true });
      },
    };
    hidden(iterator, "next", steps.next);
    hidden(iterator, "return", steps.return);
    hidden(iterator, "throw", steps.throw);
    return iterator;
  };

  const statics = {
    once,
    on,
    getEventListeners(emitter, type) {
      if (typeof emitter?.listeners === "function") return emitter.listeners(type);
      if (lib.isEventTarget(emitter)) return lib.eventListeners(emitter, type);
      throw badType("emitter", "an instance of EventEmitter or EventTarget", emitter);
    },
    getMaxListeners(emitter) {
      if (typeof emitter?.getMaxListeners === "function") return maxListeners(emitter);
      if (lib.isEventTarget(emitter)) return defaultMaxListeners;
      throw badType("emitter", "an instance of EventEmitter or EventTarget", emitter);
    },
    setMaxListeners(n = defaultMaxListeners, ...targets) {
      setMax(n, "setMaxListeners");
      if (targets.length === 0) defaultMaxListeners = n;
      for (let i = 0; i < targets.length; i++) {
        if (typeof targets[i]?.setMaxListeners === "function") targets[i].setMaxListeners(n);
        else if (!lib.isEventTarget(targets[i])) throw badType("eventTargets", "an instance of EventEmitter or EventTarget", targets[i]);
      }
    },
    listenerCount(emitter, type) {
      return typeof emitter.listenerCount === "function" ? emitter.listenerCount(type) : count(emitter, type);
    },
    addAbortListener(signal, listener) {
      if (signal === undefined) throw badType("signal", "an instance of AbortSignal", signal);
      needSignal(signal, "signal");
      needFunction(listener, "listener");
      let stop;
      if (abortState(signal).aborted) lib.process.nextTick(() => listener());
      else stop = onAbort(signal, () => listener());
      const disposable = {};
      const dispose = { dispose() { stop?.(); } }.dispose;
      defineProperty(disposable, lib.disposeSymbol, { __proto__: null, value: dispose, writable: true, enumerable: true, configurable: true });
      return disposable;
    },
    init(options) {
      init(this, options);
    },
    usingDomains: false,
    captureRejectionSymbol,
    errorMonitor,
  };
  const staticNames = ownKeys(statics);
  for (let i = 0; i < staticNames.length; i++) visible(EventEmitter, staticNames[i], statics[staticNames[i]]);
  visible(EventEmitter, "EventEmitter", EventEmitter);
  const accessor = (name, holder) => {
    const { get, set } = lib.getOwnPropertyDescriptor(holder, name);
    defineProperty(EventEmitter, name, { __proto__: null, get, set, enumerable: true, configurable: false });
  };
  accessor("defaultMaxListeners", {
    get defaultMaxListeners() {
      return defaultMaxListeners;
    },
    set defaultMaxListeners(n) {
      needNumber(n, "defaultMaxListeners", 0);
      defaultMaxListeners = n;
    },
  });
  accessor("captureRejections", {
    get captureRejections() {
      return prototype[kCapture];
    },
    set captureRejections(value) {
      needBoolean(value, "EventEmitter.captureRejections");
      prototype[kCapture] = value;
    },
  });
  lib.EventEmitter = EventEmitter;
  return {
    __proto__: null,
    EventEmitter,
    addAbortListener: statics.addAbortListener,
    captureRejectionSymbol,
    captureRejections: false,
    default: EventEmitter,
    defaultMaxListeners,
    errorMonitor,
    getEventListeners: statics.getEventListeners,
    getMaxListeners: statics.getMaxListeners,
    init: statics.init,
    listenerCount: statics.listenerCount,
    on,
    once,
    setMaxListeners: statics.setMaxListeners,
    usingDomains: false,
  };
});
