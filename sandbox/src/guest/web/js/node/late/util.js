// `util`.
(function (lib) {
  const {
    apply, native, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, ownKeys, defineProperty, isArray, isObject, symbolFor, hasOwn, keysOf,
    Promise, Error, needFunction, needString, badType, coded, react, toWellFormed, stripColors, process,
  } = lib;
  const { inspect } = lib.load("node/late/inspect.js");
  const { format, formatWithOptions } = lib.load("node/late/format.js");
  const { isDeepStrictEqual } = lib.load("node/late/comparisons.js");
  const types = lib.load("node/late/types.js").default;
  const { TextEncoder, TextDecoder } = lib.utilGlobals;

  const customPromisify = symbolFor("nodejs.util.promisify.custom");
  const withProperties = (target, source) => {
    setPrototypeOf(target, getPrototypeOf(source));
    const names = ownKeys(source);
    for (let i = 0; i < names.length; i++) {
      const descriptor = getOwnPropertyDescriptor(source, names[i]);
      setPrototypeOf(descriptor, null);
      try {
        defineProperty(target, names[i], descriptor);
      } catch {}
    }
    return target;
  };
  const promisify = (original) => {
    needFunction(original, "original");
    const special = original[customPromisify];
    if (special) {
      needFunction(special, "util.promisify.custom");
      defineProperty(special, customPromisify, { __proto__: null, value: special, enumerable: false, writable: false, configurable: true });
      return special;
    }
    const promisified = { fn(...args) {
      return new Promise((resolve, reject) => {
        native.put(args, args.length, (error, value) => (error ? reject(error) : resolve(value)));
        apply(original, this, args);
      });
    } }.fn;
    withProperties(promisified, original);
    defineProperty(promisified, customPromisify, { __proto__: null, value: promisified, enumerable: false, writable: false, configurable: true });
    return promisified;
  };
  const callbackify = (original) => {
    needFunction(original, "original");
    const callbackified = { fn(...args) {
      const callback = args[args.length - 1];
      args.length -= args.length > 0 ? 1 : 0;
      needFunction(callback, "last argument");
      react(apply(original, this, args), (value) => process.nextTick(callback, null, value), (reason) => {
        if (!reason) {
          const error = coded(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value");
          defineProperty(error, "reason", { __proto__: null, value: reason, writable: true, enumerable: true, configurable: true });
          reason = error;
        }
        process.nextTick(callback, reason);
      });
    } }.fn;
    withProperties(callbackified, original);
    const name = getOwnPropertyDescriptor(original, "name")?.value;
    if (typeof name === "string") defineProperty(callbackified, "name", { __proto__: null, value: name + "Callbackified", configurable: true });
    const length = getOwnPropertyDescriptor(original, "length")?.value;
    if (typeof length === "number") defineProperty(callbackified, "length", { __proto__: null, value: length + 1, configurable: true });
    return callbackified;
  };
  const deprecate = (original) => {
    needFunction(original, "fn");
    const deprecated = function (...args) {
      return new.target ? lib.construct(original, args, new.target) : apply(original, this, args);
    };
    setPrototypeOf(deprecated, original);
    if (original.prototype) deprecated.prototype = original.prototype;
    return deprecated;
  };
  const inherits = (constructor, parent) => {
    if (constructor === undefined || constructor === null) throw badType("ctor", "of type function", constructor);
    if (parent === undefined || parent === null) throw badType("superCtor", "of type function", parent);
    if (parent.prototype === undefined) throw badType("superCtor.prototype", "of type object", parent.prototype);
    defineProperty(constructor, "super_", { __proto__: null, value: parent, writable: true, configurable: true });
    setPrototypeOf(constructor.prototype, parent.prototype);
  };

  const util = {
    TextDecoder,
    TextEncoder,
    _extend(target, source) {
      if (!isObject(source)) return target;
      const keys = keysOf(source);
      for (let i = keys.length - 1; i >= 0; i--) target[keys[i]] = source[keys[i]];
      return target;
    },
    aborted(signal, resource) {
      return lib.promising(() => {
        if (signal === undefined) throw badType("signal", "an instance of AbortSignal", signal);
        lib.needSignal(signal, "signal");
        if (!isObject(resource)) throw badType("resource", "of type object", resource);
        return new Promise((resolve) => {
          if (lib.abortState(signal).aborted) resolve();
          else lib.onAbort(signal, () => resolve());
        });
      });
    },
    callbackify,
    debug() {
      return debuglog();
    },
    debuglog() {
      return debuglog();
    },
    deprecate(fn) {
      return deprecate(fn);
    },
    format,
    formatWithOptions,
    inherits,
    inspect,
    isArray: { isArray(value) { return isArray(value); } }.isArray,
    isBoolean: (value) => typeof value === "boolean",
    isBuffer: (value) => lib.isBuffer(value),
    isDate: types.isDate,
    isDeepStrictEqual: { isDeepStrictEqual(val1, val2) { return isDeepStrictEqual(val1, val2); } }.isDeepStrictEqual,
    isError: (value) => types.isNativeError(value) || lib.instanceOf(value, Error),
    isFunction: (value) => typeof value === "function",
    isNull: (value) => value === null,
    isNullOrUndefined: (value) => value === null || value === undefined,
    isNumber: (value) => typeof value === "number",
    isObject: (value) => value !== null && typeof value === "object",
    isPrimitive: (value) => !isObject(value),
    isRegExp: types.isRegExp,
    isString: (value) => typeof value === "string",
    isSymbol: (value) => typeof value === "symbol",
    isUndefined: (value) => value === undefined,
    promisify,
    stripVTControlCharacters(str) {
      needString(str, "str");
      return stripColors(str);
    },
    styleText(format, text) {
      needString(text, "text");
      const formats = isArray(format) ? format : [format];
      let result = text;
      for (let i = formats.length - 1; i >= 0; i--) {
        const codes = typeof formats[i] === "string" && hasOwn(inspect.colors, formats[i]) ? inspect.colors[formats[i]] : undefined;
        if (codes === undefined) throw lib.badValue("format", formats[i], "must be one of the styles that util.inspect.colors lists");
        result = "\u001b[" + codes[0] + "m" + result + "\u001b[" + codes[1] + "m";
      }
      return result;
    },
    toUSVString(input) {
      return toWellFormed(lib.toText(input));
    },
    types,
  };
  const debuglog = () => {
    const log = () => {};
    defineProperty(log, "enabled", { __proto__: null, value: false, enumerable: true, configurable: true });
    return log;
  };
  defineProperty(promisify, "custom", { __proto__: null, value: customPromisify, writable: true, enumerable: true, configurable: true });
  return { __proto__: null, ...util, default: util };
});
