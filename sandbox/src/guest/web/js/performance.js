// `performance`, `navigator`, `self`, and what else hangs on the global object itself.
(function (lib) {
  const { global, native, construct, define, expose, guard, secret, illegal, setPrototypeOf, EventTarget, need, list, append, arrayOf, isObject, usv, freeze, DOMException, TypeError, structuredClone } = lib;

  let entrySlots;
  class PerformanceEntry {
    #slots;
    constructor(token = undefined, slots = undefined) {
      guard(token);
      this.#slots = slots;
    }
    static {
      entrySlots = (entry) => {
        try {
          return entry.#slots;
        } catch {
          return illegal();
        }
      };
    }
    get name() {
      return entrySlots(this).name;
    }
    get entryType() {
      return entrySlots(this).entryType;
    }
    get startTime() {
      return entrySlots(this).startTime;
    }
    get duration() {
      return entrySlots(this).duration;
    }
    toJSON() {
      const { name, entryType, startTime, duration } = entrySlots(this);
      return { name, entryType, startTime, duration };
    }
  }
  define(PerformanceEntry);
  expose("PerformanceEntry", PerformanceEntry);
  const detailed = {
    PerformanceMark: class extends PerformanceEntry {
      constructor(name, options = undefined) {
        need(arguments.length, 1, "constructor' on 'PerformanceMark");
        return construct(PerformanceEntry, [secret, markSlots(name, options)], new.target);
      }
      get detail() {
        return entrySlots(this).detail;
      }
    },
    PerformanceMeasure: class extends PerformanceEntry {
      constructor(token = undefined, slots = undefined) {
        guard(token);
        return construct(PerformanceEntry, [secret, slots], new.target);
      }
      get detail() {
        return entrySlots(this).detail;
      }
    },
  };
  const { PerformanceMark, PerformanceMeasure } = detailed;
  define(PerformanceMark, undefined, "PerformanceMark");
  define(PerformanceMeasure, undefined, "PerformanceMeasure");
  expose("PerformanceMark", PerformanceMark);
  expose("PerformanceMeasure", PerformanceMeasure);

  const markSlots = (name, options) => {
    const text = usv(name);
    const { detail = null, startTime = native.now() } = lib.dictionary(options, "options");
    const start = time(startTime, "The start time");
    if (start < 0) throw new TypeError("A mark cannot have a negative start time");
    return { __proto__: null, name: text, entryType: "mark", startTime: start, duration: 0, detail: structuredClone(detail) };
  };

  let entries = list();
  class Performance extends EventTarget {
    #brand;
    constructor(token = undefined) {
      guard(token);
      super();
    }
    static {
      lib.isPerformance = (value) => isObject(value) && #brand in value;
    }
    get timeOrigin() {
      check(this);
      return native.timeOrigin();
    }
    now() {
      check(this);
      return native.now();
    }
    mark(name, options = undefined) {
      check(this);
      need(arguments.length, 1, "mark' on 'Performance");
      const mark = new PerformanceMark(name, options);
      append(entries, mark);
      return mark;
    }
    measure(name, startOrOptions = undefined, endMark = undefined) {
      check(this);
      need(arguments.length, 1, "measure' on 'Performance");
      const text = usv(name);
      let from = startOrOptions ?? undefined;
      let to = endMark;
      let length;
      let detail = null;
      if (isObject(startOrOptions)) {
        ({ detail, duration: length, end: to, start: from } = startOrOptions);
        if (length !== undefined) length = time(length, "The duration");
        const isGiven = from !== undefined || to !== undefined || length !== undefined;
        if (isGiven || detail !== undefined) {
          if (endMark !== undefined) throw new TypeError("An end mark cannot be given beside options");
          if (from === undefined && to === undefined) throw new TypeError("Options need a start or an end");
          if (from !== undefined && to !== undefined && length !== undefined) {
            throw new TypeError("A start, an end and a duration cannot be given together");
          }
        } else {
          to = endMark;
        }
        detail ??= null;
      }
      const end = to === undefined ? (length !== undefined && from !== undefined ? moment(from) + length : native.now()) : moment(to);
      const start = from !== undefined ? moment(from) : length !== undefined && to !== undefined ? end - length : 0;
      const slots = { __proto__: null, name: text, entryType: "measure", startTime: start, duration: end - start, detail: structuredClone(detail) };
      const measure = new PerformanceMeasure(secret, slots);
      append(entries, measure);
      return measure;
    }
    clearMarks(name = undefined) {
      check(this);
      clear("mark", name);
    }
    clearMeasures(name = undefined) {
      check(this);
      clear("measure", name);
    }
    getEntries() {
      check(this);
      return select(undefined, undefined);
    }
    getEntriesByType(type) {
      check(this);
      need(arguments.length, 1, "getEntriesByType' on 'Performance");
      return select(undefined, usv(type));
    }
    getEntriesByName(name, type = undefined) {
      check(this);
      need(arguments.length, 1, "getEntriesByName' on 'Performance");
      return select(usv(name), type === undefined ? undefined : usv(type));
    }
    toJSON() {
      check(this);
      return { timeOrigin: native.timeOrigin() };
    }
  }
  const check = (value) => {
    if (!lib.isPerformance(value)) illegal();
  };
  const moment = (mark) => {
    if (typeof mark === "number") {
      if (mark < 0) throw new TypeError("A time cannot be negative");
      return time(mark, "A time");
    }
    const name = usv(mark);
    if (lib.indexOfList(NAVIGATION, name) !== -1) throw new TypeError("'" + name + "' is a time of a page's, and there is none here");
    for (let i = entries.length - 1; i >= 0; i--) {
      const slots = entrySlots(entries[i]);
      if (slots.entryType === "mark" && slots.name === name) return slots.startTime;
    }
    throw new DOMException("The mark '" + name + "' does not exist.", "SyntaxError");
  };
  // `double`.
  const time = (value, what) => {
    const number = +value;
    if (!lib.isFinite(number)) throw new TypeError(what + " is not a finite number");
    return number;
  };
  // The attributes of PerformanceTiming.
  const NAVIGATION = [
    "connectEnd", "connectStart", "domComplete", "domContentLoadedEventEnd", "domContentLoadedEventStart",
    "domInteractive", "domLoading", "domainLookupEnd", "domainLookupStart", "fetchStart", "loadEventEnd", "loadEventStart",
    "navigationStart", "redirectEnd", "redirectStart", "requestStart", "responseEnd", "responseStart",
    "secureConnectionStart", "unloadEventEnd", "unloadEventStart",
  ];
  const clear = (type, name) => {
    const text = name === undefined ? undefined : usv(name);
    const kept = list();
    for (let i = 0; i < entries.length; i++) {
      const slots = entrySlots(entries[i]);
      if (slots.entryType !== type || (text !== undefined && slots.name !== text)) append(kept, entries[i]);
    }
    entries = kept;
  };
  const select = (name, type) => {
    const chosen = list();
    for (let i = 0; i < entries.length; i++) {
      const slots = entrySlots(entries[i]);
      if ((name === undefined || slots.name === name) && (type === undefined || slots.entryType === type)) append(chosen, entries[i]);
    }
    // By start time; those of one moment stay in the order in which they were made.
    for (let i = 1; i < chosen.length; i++) {
      const entry = chosen[i];
      let at = i;
      for (; at > 0 && entrySlots(chosen[at - 1]).startTime > entrySlots(entry).startTime; at--) chosen[at] = chosen[at - 1];
      chosen[at] = entry;
    }
    return arrayOf(chosen);
  };
  define(Performance, lib.isPerformance);
  expose("Performance", Performance);
  expose("performance", new Performance(secret), true);

  class Navigator {
    #brand;
    constructor(token = undefined) {
      guard(token);
    }
    static {
      lib.isNavigator = (value) => isObject(value) && #brand in value;
    }
    get hardwareConcurrency() {
      return ours(this, 1);
    }
    get language() {
      return ours(this, "en");
    }
    get languages() {
      return ours(this, languages);
    }
    get platform() {
      return ours(this, "Linux x86_64");
    }
    get userAgent() {
      return ours(this, "codemode-executor");
    }
  }
  const languages = freeze(["en"]);
  const ours = (navigator, value) => (lib.isNavigator(navigator) ? value : illegal());
  define(Navigator, lib.isNavigator);
  expose("Navigator", Navigator);
  expose("navigator", new Navigator(secret), true);

  // The global object is an event target, by the classes that the reference gives it.
  class WorkerGlobalScope extends EventTarget {
    constructor(token = undefined) {
      guard(token);
      super();
    }
    get onerror() {
      return onerror.get(scope(this));
    }
    set onerror(value) {
      onerror.set(scope(this), value);
    }
    get onrejectionhandled() {
      return onrejectionhandled.get(scope(this));
    }
    set onrejectionhandled(value) {
      onrejectionhandled.set(scope(this), value);
    }
    get onunhandledrejection() {
      return onunhandledrejection.get(scope(this));
    }
    set onunhandledrejection(value) {
      onunhandledrejection.set(scope(this), value);
    }
  }
  // A call without a receiver means the global object.
  const scope = (value) => ((value ?? global) === global ? global : illegal());
  const onerror = lib.handler("error");
  const onrejectionhandled = lib.handler("rejectionhandled");
  const onunhandledrejection = lib.handler("unhandledrejection");
  define(WorkerGlobalScope);
  expose("WorkerGlobalScope", WorkerGlobalScope);
  class ServiceWorkerGlobalScope extends WorkerGlobalScope {
    constructor(token = undefined) {
      super(token);
    }
  }
  define(ServiceWorkerGlobalScope);
  expose("ServiceWorkerGlobalScope", ServiceWorkerGlobalScope);
  setPrototypeOf(global, ServiceWorkerGlobalScope.prototype);
  expose("self", global, true);
  expose("global", global, true);
  expose("origin", "null", true);

  // A program's `Error.prepareStackTrace` sees frames of ours; it must not get hold of the functions in them. As in V8,
  // where functions in strict code have none.
  const { Error } = lib;
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, frames) => (frames.length > 0 ? lib.getPrototypeOf(frames[0]) : undefined);
  const callSite = new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  const { getFunction } = {
    getFunction() {
      return undefined;
    },
  };
  // In a run the hook is given no frames of ours, and sites that have no functions to hand out.
  if (callSite !== undefined) lib.defineProperty(callSite, "getFunction", { __proto__: null, value: getFunction });
});
