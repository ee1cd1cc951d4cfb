// Errors with a `code`, and the checks of arguments that throw them, in Node's words.
(function (lib) {
  const {
    defineProperty, slice, exec, isInteger, is, jsonText, numberText, symbolText, hasOwn, getPrototypeOf, String, TypeError, RangeError,
    Error, charCodeAt, indexOf,
  } = lib;

  // An error whose `code` is an own property, as Node's are.
  const coded = (lib.coded = (Class, code, message) => {
    const error = new Class(message);
    defineProperty(error, "code", { __proto__: null, value: code, writable: true, enumerable: true, configurable: true });
    return error;
  });

  // A primitive as a message shows it.
  const shown = (value) => {
    switch (typeof value) {
      case "string":
        return quoted(value);
      case "bigint":
        return value + "n";
      case "symbol":
        return symbolText(value);
      case "number":
        return is(value, -0) ? "-0" : numberText(value);
    }
    return String(value);
  };
  // A string in the quotes that it needs least of.
  const quoted = (text) => {
    const inner = slice(jsonText(text), 1, -1);
    if (indexOf(text, "'") < 0) return "'" + (indexOf(inner, '\\"') < 0 ? inner : lib.replaceAll(inner, '\\"', '"')) + "'";
    return indexOf(text, '"') < 0 ? '"' + inner + '"' : indexOf(text, "`") < 0 ? "`" + lib.replaceAll(inner, '\\"', '"') + "`" : "'" + lib.replaceAll(inner, "'", "\\'") + "'";
  };
  const classOf = (value) => {
    try {
      const { constructor } = value;
      return typeof constructor === "function" && typeof constructor.name === "string" ? constructor.name : "";
    } catch {
      return "";
    }
  };
  // What a value is, as messages end: `Received …`.
  const received = (lib.received = (value) => {
    if (value === undefined || value === null) return " Received " + value;
    if (typeof value === "function") {
      const shape = hasOwn(value, "name") ? value.name : "";
      return " Received function " + (typeof shape === "string" ? shape : "");
    }
    if (typeof value === "object") {
      const name = classOf(value);
      return name === "" ? " Received " + (getPrototypeOf(value) === null ? "[Object: null prototype] {}" : "{}") : " Received an instance of " + name;
    }
    const text = shown(value);
    return " Received type " + (typeof value) + " (" + (text.length > 28 ? slice(text, 0, 25) + "..." : text) + ")";
  });

  // `expected` as `of type string`.
  lib.badType = (name, expected, value) => {
    const what = exec(/\.| argument$/, name) === null ? '"' + name + '" argument' : exec(/ argument$/, name) === null ? '"' + name + '" property' : name;
    return coded(TypeError, "ERR_INVALID_ARG_TYPE", "The " + what + " must be " + expected + "." + received(value));
  };
  lib.badValue = (name, value, reason = "is invalid") => {
    let text = typeof value === "object" && value !== null ? "an instance of " + classOf(value) : shown(value);
    if (text.length > 128) text = slice(text, 0, 128) + "...";
    const what = exec(/\./, name) === null ? "argument" : "property";
    return coded(TypeError, "ERR_INVALID_ARG_VALUE", "The " + what + " '" + name + "' " + reason + ". Received " + text);
  };
  lib.outOfRange = (name, range, value) => {
    let text;
    if (typeof value === "bigint") text = (value > 4294967296n || value < -4294967296n ? grouped(String(value)) : value) + "n";
    else if (isInteger(value) && (value > 4294967296 || value < -4294967296)) text = grouped(String(value));
    else text = typeof value === "object" && value !== null ? "an instance of " + classOf(value) : shown(value);
    return coded(RangeError, "ERR_OUT_OF_RANGE", 'The value of "' + name + '" is out of range. It must be ' + range + ". Received " + text);
  };
  // Digits in groups of three: `4_294_967_296`.
  const grouped = (text) => {
    let result = "";
    let end = text.length;
    const start = charCodeAt(text, 0) === 45 ? 1 : 0;
    for (; end >= start + 4; end -= 3) result = "_" + slice(text, end - 3, end) + result;
    return slice(text, 0, end) + result;
  };

  lib.needString = (value, name) => {
    if (typeof value !== "string") throw lib.badType(name, "of type string", value);
  };
  lib.needFunction = (value, name) => {
    if (typeof value !== "function") throw lib.badType(name, "of type function", value);
  };
  lib.needObject = (value, name) => {
    if (value === null || typeof value !== "object" || lib.isArray(value)) throw lib.badType(name, "of type object", value);
  };
  lib.needBoolean = (value, name) => {
    if (typeof value !== "boolean") throw lib.badType(name, "of type boolean", value);
  };
  lib.needNumber = (value, name, low = undefined, high = undefined) => {
    if (typeof value !== "number") throw lib.badType(name, "of type number", value);
    if ((low !== undefined && value < low) || (high !== undefined && value > high) || ((low !== undefined || high !== undefined) && value !== value)) {
      const both = low !== undefined && high !== undefined ? " && " : "";
      throw lib.outOfRange(name, "" + (low === undefined ? "" : ">= " + low) + both + (high === undefined ? "" : "<= " + high), value);
    }
  };
  lib.needInteger = (value, name, low = -9007199254740991, high = 9007199254740991) => {
    if (typeof value !== "number") throw lib.badType(name, "of type number", value);
    if (!isInteger(value)) throw lib.outOfRange(name, "an integer", value);
    if (value < low || value > high) throw lib.outOfRange(name, ">= " + low + " && <= " + high, value);
  };
  lib.needSignal = (value, name) => {
    if (value !== undefined && !lib.isAbortSignal(value)) throw lib.badType(name, "an instance of AbortSignal", value);
  };
  // What Node rejects with when a signal is aborted.
  lib.abortError = (cause) => {
    const error = coded(Error, "ABORT_ERR", "The operation was aborted");
    defineProperty(error, "name", { __proto__: null, value: "AbortError", writable: true, enumerable: true, configurable: true });
    if (cause !== undefined) defineProperty(error, "cause", { __proto__: null, value: cause, writable: true, enumerable: false, configurable: true });
    return error;
  };
});
