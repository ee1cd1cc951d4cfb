// Intrinsics as they are before any guest code. Scripts use these, never a method of an object that a program could
// have changed: `push(list, x)`, not `list.push(x)`. Also avoided: `for…of`, spread and array destructuring (they go
// through `Symbol.iterator`), templates with a substitution (the engine calls `String.prototype.concat` for them: `+`
// puts primitives together, and `toText` converts what a program gave), and assignments to new members of objects that
// inherit from `Object.prototype` (a setter there would see them): records are `{ __proto__: null, … }`, lists come from
// `list()`.
(function (lib) {
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const method = (holder, name) => uncurry(holder.prototype[name]);
  const getterOf = (prototype, name) => uncurry(getOwnPropertyDescriptor(prototype, name).get);
  const TypedArray = getPrototypeOf(Uint8Array);
  const concat = method(String, "concat");

  const { Map } = globalThis;
  const mapMethods = { __proto__: null, get: Map.prototype.get, set: Map.prototype.set, has: Map.prototype.has, delete: Map.prototype.delete };

  const shared = {
    __proto__: null,
    apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf, uncurry, getterOf,

    Array, ArrayBuffer, BigInt, Boolean, DOMException, DataView, Date, Error, Map, Number, Object, Promise, RangeError,
    RegExp, Set, String, SuppressedError, Symbol, SyntaxError, TypeError, Uint8Array, WeakMap,
    TypedArray,
    ObjectPrototype: Object.prototype,
    ArrayPrototype: Array.prototype,
    FunctionPrototype: Function.prototype,
    AsyncIteratorPrototype: getPrototypeOf(getPrototypeOf(async function* () {}).prototype),
    IteratorPrototype: getPrototypeOf(getPrototypeOf([][Symbol.iterator]())),
    iteratorSymbol: Symbol.iterator,
    asyncIteratorSymbol: Symbol.asyncIterator,
    tagSymbol: Symbol.toStringTag,
    toPrimitiveSymbol: Symbol.toPrimitive,
    speciesSymbol: Symbol.species,
    disposeSymbol: Symbol.dispose,

    create: Object.create,
    freeze: Object.freeze,
    keysOf: Object.keys,
    hasOwn: Object.hasOwn,
    is: Object.is,
    isArray: Array.isArray,
    isView: ArrayBuffer.isView,
    isInteger: Number.isInteger,
    isFinite: Number.isFinite,
    symbolFor: Symbol.for,
    fromCharCode: String.fromCharCode,
    parseJson: JSON.parse,
    jsonText: JSON.stringify,
    floor: Math.floor,
    trunc: Math.trunc,
    sqrt: Math.sqrt,
    round: Math.round,
    min: Math.min,
    max: Math.max,
    random: Math.random,
    dateNow: Date.now,
    encodeURIComponent, decodeURIComponent,

    push: method(Array, "push"),
    shift: method(Array, "shift"),
    sort: method(Array, "sort"),
    joinList: method(Array, "join"),
    copyWithin: method(Array, "copyWithin"),
    indexOfList: method(Array, "indexOf"),

    charCodeAt: method(String, "charCodeAt"),
    indexOf: method(String, "indexOf"),
    lastIndexOf: method(String, "lastIndexOf"),
    slice: method(String, "slice"),
    split: method(String, "split"),
    startsWith: method(String, "startsWith"),
    endsWith: method(String, "endsWith"),
    toLowerCase: method(String, "toLowerCase"),
    toUpperCase: method(String, "toUpperCase"),
    toWellFormed: method(String, "toWellFormed"),
    repeat: method(String, "repeat"),
    replaceAll: method(String, "replaceAll"),
    trim: method(String, "trim"),
    trimEnd: method(String, "trimEnd"),
    // What a template makes of a value.
    toText: (value) => (typeof value === "string" ? value : concat("", value)),
    toFixed: method(Number, "toFixed"),
    padStart: method(String, "padStart"),
    padEnd: method(String, "padEnd"),
    exec: method(RegExp, "exec"),

    mapGet: method(Map, "get"),
    mapSet: method(Map, "set"),
    mapHas: method(Map, "has"),
    mapDelete: method(Map, "delete"),
    mapForEach: method(Map, "forEach"),
    mapSize: getterOf(Map.prototype, "size"),
    setAdd: method(Set, "add"),
    setHas: method(Set, "has"),
    setDelete: method(Set, "delete"),
    setForEach: method(Set, "forEach"),
    setSize: getterOf(Set.prototype, "size"),
    mapEntries: method(Map, "entries"),
    setValues: method(Set, "values"),
    numberParsers: { __proto__: null, parseInt, parseFloat },
    weakGet: method(WeakMap, "get"),
    weakSet: method(WeakMap, "set"),
    weakHas: method(WeakMap, "has"),

    numberValue: method(Number, "valueOf"),
    numberText: method(Number, "toString"),
    stringValue: method(String, "valueOf"),
    booleanValue: method(Boolean, "valueOf"),
    bigintValue: method(BigInt, "valueOf"),
    dateValue: method(Date, "getTime"),
    functionText: method(Function, "toString"),
    dateIso: method(Date, "toISOString"),
    errorText: method(Error, "toString"),
    errorStack: getterOf(Error.prototype, "stack"),
    symbolValue: method(Symbol, "valueOf"),
    symbolText: method(Symbol, "toString"),
    objectText: method(Object, "toString"),

    bufferLength: getterOf(ArrayBuffer.prototype, "byteLength"),
    bufferMax: getterOf(ArrayBuffer.prototype, "maxByteLength"),
    bufferResizable: getterOf(ArrayBuffer.prototype, "resizable"),
    bufferDetached: getterOf(ArrayBuffer.prototype, "detached"),
    bufferResize: method(ArrayBuffer, "resize"),
    bufferTransfer: method(ArrayBuffer, "transfer"),
    bufferTransferFixed: method(ArrayBuffer, "transferToFixedLength"),
    arrayTag: getterOf(TypedArray.prototype, Symbol.toStringTag),
    arrayBuffer: getterOf(TypedArray.prototype, "buffer"),
    arrayOffset: getterOf(TypedArray.prototype, "byteOffset"),
    arrayBytes: getterOf(TypedArray.prototype, "byteLength"),
    arrayLength: getterOf(TypedArray.prototype, "length"),
    arraySet: uncurry(TypedArray.prototype.set),
    viewBuffer: getterOf(DataView.prototype, "buffer"),
    viewOffset: getterOf(DataView.prototype, "byteOffset"),
    viewBytes: getterOf(DataView.prototype, "byteLength"),

    withResolvers: Promise.withResolvers,

    // A Map whose `get` and `set` are the engine's, whatever happens to Map.prototype. Never handed to a program.
    newMap: () => {
      const map = new Map();
      setPrototypeOf(map, mapMethods);
      return map;
    },

    // An array without a prototype: assigning to an index runs nobody's setter. Never handed to a program.
    list: () => {
      const items = [];
      setPrototypeOf(items, null);
      return items;
    },
    // The same elements as a program may see them.
    arrayOf: (items) => {
      setPrototypeOf(items, Array.prototype);
      return items;
    },
    append: (items, item) => {
      items[items.length] = item;
    },
    // Takes one item out of any array. `splice` would ask the array for its constructor.
    removeAt: (items, at) => {
      shared.copyWithin(items, at, at + 1);
      items.length -= 1;
    },
  };
  // The language's own classes.
  shared.languageClasses = shared.list();
  const globals = ownKeys(globalThis);
  for (let i = 0; i < globals.length; i++) {
    const { value } = getOwnPropertyDescriptor(globalThis, globals[i]);
    if (typeof value === "function" && value !== DOMException && value.prototype !== undefined) shared.append(shared.languageClasses, value);
  }

  setPrototypeOf(lib, null);
  const names = ownKeys(shared);
  for (let i = 0; i < names.length; i++) lib[names[i]] = shared[names[i]];
});
