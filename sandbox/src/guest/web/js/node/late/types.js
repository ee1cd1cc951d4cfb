// `util.types`: what a value is inside, whatever its prototype says.
(function (lib) {
  const { kindOf, isView, arrayTag, getPrototypeOf, tagSymbol, native, isObject } = lib;

  const is = (...kinds) => (value) => {
    if (!isObject(value)) return false;
    const kind = kindOf(value);
    for (let i = 0; i < kinds.length; i++) if (kinds[i] === kind) return true;
    return false;
  };
  const isTyped = (name) => (value) => isObject(value) && kindOf(value) === "view" && arrayTag(value) === name;
  const mapIterator = native.classId(lib.mapEntries(new lib.Map())), setIterator = native.classId(lib.setValues(new lib.Set()));
  const generator = native.classId((function* () {})()), asyncGenerator = native.classId((async function* () {})());
  const types = {
    isAnyArrayBuffer: is("buffer", "shared"),
    isArgumentsObject: is("arguments"),
    isArrayBuffer: is("buffer"),
    isArrayBufferView: (value) => isView(value),
    isAsyncFunction: is("asyncfunction", "asyncgeneratorfunction"),
    isBigInt64Array: isTyped("BigInt64Array"),
    isBigIntObject: is("bigint"),
    isBigUint64Array: isTyped("BigUint64Array"),
    isBooleanObject: is("boolean"),
    isBoxedPrimitive: is("number", "string", "boolean", "bigint", "symbol"),
    isDataView: is("dataview"),
    isDate: is("date"),
    isExternal: () => false,
    isFloat32Array: isTyped("Float32Array"),
    isFloat64Array: isTyped("Float64Array"),
    isGeneratorFunction: is("generatorfunction", "asyncgeneratorfunction"),
    isGeneratorObject: (value) => isObject(value) && (native.classId(value) === generator || native.classId(value) === asyncGenerator),
    isInt16Array: isTyped("Int16Array"),
    isInt32Array: isTyped("Int32Array"),
    isInt8Array: isTyped("Int8Array"),
    isMap: is("map"),
    isMapIterator: (value) => isObject(value) && native.classId(value) === mapIterator,
    isModuleNamespaceObject: (value) => isObject(value) && kindOf(value) === undefined && getPrototypeOf(value) === null && value[tagSymbol] === "Module",
    isNativeError: is("error"),
    isNumberObject: is("number"),
    isPromise: is("promise"),
    isProxy: is("proxy"),
    isRegExp: is("regexp"),
    isSet: is("set"),
    isSetIterator: (value) => isObject(value) && native.classId(value) === setIterator,
    isSharedArrayBuffer: is("shared"),
    isStringObject: is("string"),
    isSymbolObject: is("symbol"),
    isTypedArray: is("view"),
    isUint16Array: isTyped("Uint16Array"),
    isUint32Array: isTyped("Uint32Array"),
    isUint8Array: isTyped("Uint8Array"),
    isUint8ClampedArray: isTyped("Uint8ClampedArray"),
    isWeakMap: is("weakmap"),
    isWeakSet: is("weakset"),
  };
  const names = lib.ownKeys(types);
  for (let i = 0; i < names.length; i++) lib.defineProperty(types[names[i]], "name", { __proto__: null, value: names[i], configurable: true });
  return { __proto__: null, ...types, default: types };
});
