// Event, EventTarget and the event classes (DOM, section 2). There is no tree: the path of an event is its target.
(function (lib) {
  const {
    apply, construct, defineProperty, global, native, define, constants, expose, illegal, need, dictionary, isObject, list, append, arrayOf, indexOfList,
    removeAt, usv, TypeError, DOMException, Error, kindOf, String, Object, getOwnPropertyDescriptor, errorStack, indexOf, lastIndexOf, slice,
    endsWith,
  } = lib;

  let slots;
  let newTrusted;

  class Event {
    #slots;
    constructor(type, init = undefined) {
      need(arguments.length, 1, "constructor' on 'Event");
      const name = lib.toText(type);
      const { bubbles = false, cancelable = false, composed = false } = dictionary(init, "eventInitDict");
      this.#slots = {
        __proto__: null, type: name, bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed, time: native.now(), target: null,
        current: null, phase: 0, stopped: false, stoppedNow: false, canceled: false, passive: false, dispatching: false, initialized: true,
        trusted: false,
      };
      defineProperty(this, "isTrusted", isTrusted);
    }
    static {
      slots = (event) => {
        try {
          return event.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isEvent = (value) => isObject(value) && #slots in value;
      newTrusted = (event) => {
        event.#slots.trusted = true;
        return event;
      };
    }
    get type() {
      return slots(this).type;
    }
    get target() {
      return slots(this).target;
    }
    get srcElement() {
      return slots(this).target;
    }
    get currentTarget() {
      return slots(this).current;
    }
    composedPath() {
      const { current } = slots(this);
      return current === null ? [] : [current];
    }
    get eventPhase() {
      return slots(this).phase;
    }
    stopPropagation() {
      slots(this).stopped = true;
    }
    get cancelBubble() {
      return slots(this).stopped;
    }
    set cancelBubble(value) {
      const state = slots(this);
      if (value) state.stopped = true;
    }
    stopImmediatePropagation() {
      const state = slots(this);
      state.stopped = true;
      state.stoppedNow = true;
    }
    get bubbles() {
      return slots(this).bubbles;
    }
    get cancelable() {
      return slots(this).cancelable;
    }
    get returnValue() {
      return !slots(this).canceled;
    }
    set returnValue(value) {
      const state = slots(this);
      if (!value) cancel(state);
    }
    preventDefault() {
      cancel(slots(this));
    }
    get defaultPrevented() {
      return slots(this).canceled;
    }
    get composed() {
      return slots(this).composed;
    }
    get timeStamp() {
      return slots(this).time;
    }
    initEvent(type, bubbles = false, cancelable = false) {
      const state = slots(this);
      need(arguments.length, 1, "initEvent' on 'Event");
      const name = lib.toText(type);
      if (!state.dispatching) initialize(state, name, bubbles, cancelable);
    }
  }
  // [LegacyUnforgeable]: every event has it as its own, with one getter for all.
  const isTrusted = getOwnPropertyDescriptor({ get isTrusted() { return slots(this).trusted; } }, "isTrusted");
  lib.setPrototypeOf(isTrusted, null);
  isTrusted.configurable = false;

  const cancel = (state) => {
    if (state.cancelable && !state.passive) state.canceled = true;
  };
  const initialize = (state, type, bubbles, cancelable) => {
    state.initialized = true;
    state.stopped = state.stoppedNow = state.canceled = state.trusted = false;
    state.target = null;
    state.type = type;
    state.bubbles = !!bubbles;
    state.cancelable = !!cancelable;
  };
  define(Event, lib.isEvent);
  constants(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 });
  expose("Event", Event);

  let details;
  class DetailedEvent extends Event {
    #details;
    constructor(type, init) {
      super(type, init);
      const { detail = null } = dictionary(init, "eventInitDict");
      this.#details = { __proto__: null, detail };
    }
    static {
      details = (event) => {
        try {
          return event.#details;
        } catch {
          return illegal();
        }
      };
    }
  }
  class CustomEvent extends Event {
    constructor(type, init = undefined) {
      need(arguments.length, 1, "constructor' on 'CustomEvent");
      return construct(DetailedEvent, [type, init], new.target);
    }
    get detail() {
      return details(this).detail;
    }
    initCustomEvent(type, bubbles = false, cancelable = false, detail = null) {
      const state = slots(this);
      const held = details(this);
      need(arguments.length, 1, "initCustomEvent' on 'CustomEvent");
      const name = lib.toText(type);
      if (state.dispatching) return;
      initialize(state, name, bubbles, cancelable);
      held.detail = detail;
    }
  }
  define(CustomEvent);
  expose("CustomEvent", CustomEvent);

  // Event classes that only carry attributes: `[name, conversion, default]`, converted in this (lexicographic) order.
  const attributes = (name, members) => {
    // A dictionary with a required member is itself required.
    let needed = 1;
    for (let i = 0; i < members.length; i++) if (members[i][2] === required) needed = 2;
    class Carrying extends Event {
      #values;
      constructor(type, init) {
        super(type, init);
        const given = dictionary(init, "eventInitDict");
        const values = { __proto__: null };
        for (let i = 0; i < members.length; i++) {
          const { 0: member, 1: convert, 2: initial } = members[i];
          const value = given[member];
          if (value === undefined && initial === required) throw new TypeError("Failed to construct '" + name + "': '" + member + "' is required");
          values[member] = value === undefined ? initial : convert(value);
        }
        this.#values = values;
      }
      static read(event, member) {
        try {
          return event.#values[member];
        } catch {
          return illegal();
        }
      }
      static is(event) {
        return #values in event;
      }
    }
    const { read, is } = Carrying;
    const Attributes = {
      [name]: class extends Event {
        constructor(type, init = undefined) {
          need(arguments.length, needed, "constructor' on '" + name);
          return construct(Carrying, [type, init], new.target);
        }
      },
    }[name];
    for (let i = 0; i < members.length; i++) {
      const { 0: member } = members[i];
      const getter = Object.getOwnPropertyDescriptor({ get [member]() { return read(this, member); } }, member).get;
      defineProperty(Attributes.prototype, member, { __proto__: null, get: getter, enumerable: true, configurable: true });
    }
    defineProperty(Attributes, "length", { __proto__: null, value: needed });
    define(Attributes, undefined, name);
    expose(name, Attributes);
    return { __proto__: null, make: (type, init) => construct(Carrying, [type, init], Attributes), read, is };
  };
  const required = lib.secret;
  const any = (value) => value;
  const text = (value) => lib.toText(value);
  const unsigned = (value) => +value >>> 0;
  const object = (value) => {
    if (!isObject(value)) throw new TypeError("Failed to construct 'PromiseRejectionEvent': 'promise' is not an object");
    return value;
  };
  const errorEvent = attributes("ErrorEvent", [
    ["colno", unsigned, 0], ["error", any, undefined], ["filename", usv, ""], ["lineno", unsigned, 0], ["message", text, ""],
  ]);
  attributes("MessageEvent", [
    ["data", any, null], ["lastEventId", text, ""], ["origin", usv, ""],
    ["ports", (value) => Object.freeze(arrayOf(lib.sequence(value, any, "ports"))), Object.freeze([])],
    ["source", any, null],
  ]);
  attributes("CloseEvent", [
    ["code", (value) => unsigned(value) & 0xffff, 0], ["reason", usv, ""], ["wasClean", (value) => !!value, false],
  ]);
  const rejectionEvent = attributes("PromiseRejectionEvent", [["promise", object, required], ["reason", any, undefined]]);

  // The listeners of one target: `{type, callback, capture, passive, once, removed}`.
  let listenersOf;
  const globals = list();
  class EventTarget {
    #listeners = list();
    constructor() {}
    static {
      // A call without a receiver means the global object.
      listenersOf = (target) => {
        const receiver = target ?? global;
        if (receiver === global) return globals;
        try {
          return receiver.#listeners;
        } catch {
          return illegal();
        }
      };
      lib.isEventTarget = (value) => isObject(value) && #listeners in value;
      // The callbacks for events of a type, as an array for a program.
      lib.eventListeners = (target, type) => {
        const callbacks = list();
        const listeners = target.#listeners;
        for (let i = 0; i < listeners.length; i++) if (listeners[i].type === type) append(callbacks, listeners[i].callback);
        return arrayOf(callbacks);
      };
    }
    addEventListener(type, callback, options = undefined) {
      const listeners = listenersOf(this);
      need(arguments.length, 2, "addEventListener' on 'EventTarget");
      const name = lib.toText(type);
      const listener = toListener(callback);
      let once = false;
      let passive = false;
      let signal;
      const capture = captureOf(options);
      if (isObject(options)) {
        once = !!options.once;
        passive = !!options.passive;
        ({ signal } = options);
        if (signal !== undefined && !lib.isAbortSignal(signal)) throw new TypeError("'signal' is not an AbortSignal");
      }
      if (signal !== undefined && lib.abortState(signal).aborted) return;
      if (listener === null || find(listeners, name, listener, capture) !== -1) return;
      const entry = { __proto__: null, type: name, callback: listener, capture, passive, once, removed: false };
      add(listeners, entry);
      if (signal !== undefined) lib.onAbort(signal, () => removeEntry(listeners, entry));
    }
    removeEventListener(type, callback, options = undefined) {
      const listeners = listenersOf(this);
      need(arguments.length, 2, "removeEventListener' on 'EventTarget");
      const name = lib.toText(type);
      const at = find(listeners, name, toListener(callback), captureOf(options));
      if (at !== -1) removeEntry(listeners, listeners[at]);
    }
    dispatchEvent(event) {
      const listeners = listenersOf(this);
      need(arguments.length, 1, "dispatchEvent' on 'EventTarget");
      if (!lib.isEvent(event)) throw new TypeError("Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'.");
      const state = slots(event);
      if (state.dispatching || !state.initialized) {
        throw new DOMException("The event is already being dispatched.", "InvalidStateError");
      }
      lib.needStack();
      state.trusted = false;
      return dispatch(this ?? global, listeners, event, state);
    }
  }
  define(EventTarget, lib.isEventTarget);
  expose("EventTarget", EventTarget);
  lib.EventTarget = EventTarget;

  const add = (listeners, entry) => {
    append(listeners, entry);
    // Until somebody listens, rejections cost nothing.
    if (listeners === globals && (entry.type === "unhandledrejection" || entry.type === "rejectionhandled")) native.trackRejections();
  };
  const toListener = (callback) => {
    if (callback === null || callback === undefined) return null;
    if (!isObject(callback)) throw new TypeError("The listener is neither a function nor an object.");
    return callback;
  };
  const captureOf = (options) => (isObject(options) ? !!options.capture : !!options);
  const find = (listeners, type, callback, capture) => {
    for (let i = 0; i < listeners.length; i++) {
      const entry = listeners[i];
      if (entry.type === type && entry.callback === callback && entry.capture === capture) return i;
    }
    return -1;
  };
  const removeEntry = (listeners, entry) => {
    entry.removed = true;
    const at = indexOfList(listeners, entry);
    if (at !== -1) removeAt(listeners, at);
  };

  const dispatch = (target, listeners, event, state) => {
    state.dispatching = true;
    state.target = target;
    state.current = target;
    state.phase = 2;
    try {
      invoke(target, listeners, event, state, true);
      invoke(target, listeners, event, state, false);
    } finally {
      state.phase = 0;
      state.current = null;
      state.dispatching = state.passive = false;
      state.stopped = state.stoppedNow = false;
    }
    return !state.canceled;
  };
  // Listeners that are added meanwhile are not called; ones that are removed are not either.
  const invoke = (target, listeners, event, state, capture) => {
    if (state.stopped) return;
    const called = list();
    for (let i = 0; i < listeners.length; i++) {
      if (listeners[i].type === state.type && listeners[i].capture === capture) append(called, listeners[i]);
    }
    for (let i = 0; i < called.length; i++) {
      const entry = called[i];
      if (entry.removed) continue;
      if (entry.once) removeEntry(listeners, entry);
      state.passive = entry.passive;
      try {
        if (typeof entry.callback === "function") {
          apply(entry.callback, target, [event]);
        } else {
          const { handleEvent } = entry.callback;
          if (typeof handleEvent !== "function") throw new TypeError("The listener's 'handleEvent' is not a function.");
          apply(handleEvent, entry.callback, [event]);
        }
      } catch (error) {
        report(error);
      }
      state.passive = false;
      if (state.stoppedNow) return;
    }
  };

  // Fires an event of ours: trusted, whatever listeners throw is reported.
  lib.fire = (target, event) => dispatch(target, listenersOf(target), newTrusted(event), slots(event));

  // An event handler attribute (`onabort`): a listener whose callback is replaced in place. Says false to cancel; one for
  // the global object's errors gets what the event carries, and says true.
  lib.handler = (type) => {
    const handlers = new lib.WeakMap();
    return {
      __proto__: null,
      get: (target) => lib.weakGet(handlers, target)?.value ?? null,
      set: (target, value) => {
        const handler = isObject(value) ? value : null;
        const known = lib.weakGet(handlers, target);
        if (known !== undefined && known.value !== null && handler !== null) {
          known.value = handler;
          return;
        }
        const listeners = listenersOf(target);
        if (known !== undefined && known.value !== null) removeEntry(listeners, known.entry);
        const record = { __proto__: null, value: handler, entry: undefined };
        lib.weakSet(handlers, target, record);
        if (handler === null) return;
        record.entry = {
          __proto__: null, type, capture: false, passive: false, once: false, removed: false,
          callback: (event) => {
            if (typeof record.value !== "function") return;
            const isError = target === global && type === "error" && errorEvent.is(event);
            if (apply(record.value, target, isError ? errorValues(event) : [event]) === isError) cancel(slots(event));
          },
        };
        add(listeners, record.entry);
      },
    };
  };

  const errorValues = (event) => {
    const { read } = errorEvent;
    return [read(event, "message"), read(event, "filename"), read(event, "lineno"), read(event, "colno"), read(event, "error")];
  };

  // What a callback threw: an `error` event on the global object. It never fails the run.
  let reporting = false;
  const report = (lib.report = (error) => {
    if (reporting || !isHeard("error")) return;
    reporting = true;
    try {
      const { filename, lineno, colno } = placeOf(error);
      const init = { __proto__: null, cancelable: true, message: "Uncaught " + textOf(error), filename, lineno, colno, error };
      lib.fire(global, errorEvent.make("error", init));
    } catch {
      // There is too little stack left for telling.
    } finally {
      reporting = false;
    }
  });
  const isHeard = (type) => {
    for (let i = 0; i < globals.length; i++) if (globals[i].type === type) return true;
    return false;
  };
  const textOf = (error) => {
    try {
      return kindOf(error) === "error" ? lib.errorText(error) : String(error);
    } catch {
      return "exception";
    }
  };
  const { reportError } = {
    reportError(error) {
      need(arguments.length, 1, "reportError");
      report(error);
    },
  };
  expose("reportError", reportError, true);

  // Where an error was made, and for other values where the program is: the first place that the stack names.
  const placeOf = (error) => {
    const kind = kindOf(error);
    let stack;
    if (kind === "error") stack = textOfStack(error);
    else if (kind === "exception") stack = getOwnPropertyDescriptor(error, "stack")?.value;
    else stack = stackHere();
    if (typeof stack === "string") {
      for (let at = indexOf(stack, FRAME); at !== -1; at = indexOf(stack, FRAME, at + 1)) {
        const end = indexOf(stack, "\n", at + 1);
        const place = placeIn(slice(stack, at + FRAME.length, end === -1 ? stack.length : end));
        if (place !== undefined) return place;
      }
    }
    return { __proto__: null, filename: lib.programName, lineno: 0, colno: 0 };
  };
  // A program's `Error.prepareStackTrace` may throw.
  const textOfStack = (error) => {
    try {
      return errorStack(error);
    } catch {
      return undefined;
    }
  };
  const FRAME = "\n    at ";
  // Of `name (file:1:2)` or `file:1:2`; nothing for what is not the program's own: preludes have lines below one.
  const placeIn = (frame) => {
    const isNamed = endsWith(frame, ")");
    const text = isNamed ? slice(frame, lastIndexOf(frame, "(") + 1, frame.length - 1) : frame;
    const column = lastIndexOf(text, ":");
    const line = column < 1 ? -1 : lastIndexOf(text, ":", column - 1);
    if (line < 1) return undefined;
    const lineno = +slice(text, line + 1, column);
    const colno = +slice(text, column + 1);
    return lineno >= 1 && colno >= 1 ? { __proto__: null, filename: slice(text, 0, line), lineno, colno } : undefined;
  };
  // Without asking the program's `Error.prepareStackTrace`.
  const prepare = getOwnPropertyDescriptor(Error, "prepareStackTrace");
  const stackHere = () => {
    const programs = apply(prepare.get, Error, []);
    apply(prepare.set, Error, [undefined]);
    try {
      return errorStack(new Error());
    } finally {
      apply(prepare.set, Error, [programs]);
    }
  };

  // A rejection that nobody handled, or one that was told as such and is handled now.
  lib.tellRejection = (type, promise, reason) => {
    const init = { __proto__: null, cancelable: type === "unhandledrejection", promise, reason };
    lib.fire(global, rejectionEvent.make(type, init));
  };
});
