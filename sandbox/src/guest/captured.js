// Intrinsics as they are before any guest code, and a sample of each class that has no public test. Evaluated once, in
// the zygote; nothing of it is reachable from a program.
({
  Error,
  EvalError,
  SyntaxError,
  TypeError,
  errorPrototypes: [TypeError, ReferenceError, RangeError, SyntaxError, URIError, InternalError].map((kind) => kind.prototype),
  errorText: Error.prototype.toString,
  errorStack: Object.getOwnPropertyDescriptor(Error.prototype, "stack").get,
  callSite: (() => {
    let prototype;
    Error.prepareStackTrace = (_, [site]) => (prototype = Object.getPrototypeOf(site));
    new Error();
    Error.prepareStackTrace = undefined;
    return prototype;
  })(),
  // What a program's `Error.prepareStackTrace` is given for a frame: V8's methods, and no functions, as of strict code.
  makeSite: (() => {
    class CallSite {
      #name;
      #file;
      #line;
      #column;
      #constructs;
      constructor(name, file, line, column, constructs) {
        this.#name = name;
        this.#file = file;
        this.#line = line;
        this.#column = column;
        this.#constructs = constructs;
      }
      getThis() {
        return undefined;
      }
      getTypeName() {
        return null;
      }
      getFunction() {
        return undefined;
      }
      getFunctionName() {
        return this.#name;
      }
      getMethodName() {
        return null;
      }
      getFileName() {
        return this.#file;
      }
      getScriptNameOrSourceURL() {
        return this.#file;
      }
      getLineNumber() {
        return this.#line;
      }
      getColumnNumber() {
        return this.#column;
      }
      getEvalOrigin() {
        return undefined;
      }
      isToplevel() {
        return true;
      }
      isEval() {
        return false;
      }
      isNative() {
        return this.#file === null;
      }
      isConstructor() {
        return this.#constructs;
      }
      isAsync() {
        return false;
      }
      isPromiseAll() {
        return false;
      }
      getPromiseIndex() {
        return null;
      }
      toString() {
        const where = this.#file === null ? "native" : this.#file + ":" + this.#line + ":" + this.#column;
        if (this.#name === null && this.#file !== null && !this.#constructs) return where;
        return (this.#constructs ? "new " : "") + (this.#name ?? "<anonymous>") + " (" + where + ")";
      }
    }
    delete CallSite.prototype.constructor;
    return (name, file, line, column, constructs) => new CallSite(name, file, line, column, constructs);
  })(),
  jsonParse: JSON.parse,
  jsonStringify: JSON.stringify,
  String,
  asyncFunction: Object.getPrototypeOf(async () => {}),
  primitives: [Number, String, Boolean, BigInt].map((kind) => kind.prototype.valueOf),
  dateValue: Date.prototype.getTime,
  bigintText: BigInt.prototype.toString,
  slice: String.prototype.slice,
  viewBuffer: Object.getOwnPropertyDescriptor(DataView.prototype, "buffer").get,
  viewOffset: Object.getOwnPropertyDescriptor(DataView.prototype, "byteOffset").get,
  viewLength: Object.getOwnPropertyDescriptor(DataView.prototype, "byteLength").get,
  samples: {
    generator: (function* () {})(),
    asyncGenerator: (async function* () {})(),
    number: Object(1),
    string: Object(""),
    boolean: Object(true),
    bigint: Object(1n),
    rawJson: JSON.rawJSON("1"),
    domException: new DOMException(""),
    sharedBuffer: new SharedArrayBuffer(1),
  },
})
