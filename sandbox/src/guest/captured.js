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
