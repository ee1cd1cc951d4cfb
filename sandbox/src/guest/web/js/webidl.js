// What Web IDL says of every interface: how members look, what arguments become, what a wrong receiver gets.
(function (lib) {
  const {
    apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, ownKeys, getterOf, create, global, native,
    Object, IteratorPrototype, Promise, String, Symbol, TypeError, RangeError, Error, DOMException,
    iteratorSymbol, tagSymbol, toWellFormed, trunc, floor, isFinite, list, append, arrayOf, charCodeAt,
    arrayTag, arrayBuffer, arrayOffset, arrayBytes, viewBuffer, viewOffset, viewBytes, bufferLength, Map,
    Uint8Array, withResolvers,
  } = lib;

  // Class numbers of the engine, learnt from samples: `kindOf(value)` says what a value is inside.
  const { classId, promiseThen } = native;
  const kinds = list();
  const sample = (kind, value) => {
    const id = classId(value);
    while (kinds.length <= id) append(kinds, undefined);
    kinds[id] = kind;
  };
  sample("object", {});
  sample("array", []);
  sample("function", () => {});
  sample("error", new Error());
  sample("number", Object(1));
  sample("string", Object(""));
  sample("boolean", Object(true));
  sample("symbol", Object(Symbol()));
  sample("bigint", Object(1n));
  sample("weakmap", new lib.WeakMap());
  sample("weakset", new global.WeakSet());
  sample("arguments", (function () { return arguments; })());
  sample("generatorfunction", function* () {});
  sample("asyncfunction", async () => {});
  sample("asyncgeneratorfunction", async function* () {});
  sample("date", new lib.Date(0));
  sample("regexp", /x/);
  sample("map", new Map());
  sample("set", new lib.Set());
  sample("buffer", new lib.ArrayBuffer(0));
  sample("shared", new global.SharedArrayBuffer(0));
  sample("dataview", new lib.DataView(new lib.ArrayBuffer(0)));
  sample("exception", new DOMException());
  sample("promise", Promise.resolve());
  sample("proxy", new global.Proxy({}, {}));
  const arrays = ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "BigInt64", "BigUint64", "Float16", "Float32", "Float64"];
  const arrayClasses = { __proto__: null };
  for (let i = 0; i < arrays.length; i++) {
    const name = arrays[i] + "Array";
    arrayClasses[name] = global[name];
    sample("view", new global[name](0));
  }
  lib.arrayClasses = arrayClasses;
  // Undefined for what is no object, and for kinds that nothing here treats specially.
  const kindOf = (lib.kindOf = (value) => kinds[classId(value)]);

  // A DOMException is an error to the language too: it has an [[ErrorData]] slot. The engine knows only its own.
  const { prototype: exceptionPrototype } = DOMException;
  const { isError } = {
    isError(value) {
      const kind = kindOf(value);
      return (kind === "error" || kind === "exception") && value !== exceptionPrototype;
    },
  };
  defineProperty(Error, "isError", { __proto__: null, value: isError });

  const isObject = (lib.isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function");

  const illegal = (lib.illegal = () => {
    throw new TypeError("Illegal invocation");
  });
  // The constructor of interfaces that programs cannot construct is called with this. No `super` passes it on: a program
  // may give any class that it can reach another prototype. Derived classes return what `construct` makes of their base,
  // or, to have slots of their own, of a class between the two that no program can reach.
  lib.secret = Symbol();
  lib.guard = (token) => {
    if (token !== lib.secret) throw new TypeError("Illegal constructor");
  };
  lib.need = (given, wanted, where) => {
    if (given < wanted) {
      throw new TypeError("Failed to execute '" + where + "': " + wanted + " argument" + (wanted === 1 ? "" : "s") + " required, but only " + given + " present.");
    }
  };

  // Platform objects that structured clone refuses, or clones by a function of their own.
  lib.platform = list();

  // Makes the members of a class look as Web IDL wants and remembers its brand: `isInstance` is `(o) => #slots in o`.
  lib.define = (constructor, isInstance = undefined, name = constructor.name) => {
    enumerable(constructor.prototype, (name) => name === "constructor");
    enumerable(constructor, (name) => name === "prototype" || name === "name" || name === "length");
    defineProperty(constructor.prototype, tagSymbol, { __proto__: null, value: name, configurable: true });
    if (isInstance !== undefined) append(lib.platform, { __proto__: null, name, isInstance, clone: undefined });
    return constructor;
  };
  const enumerable = (holder, isLanguages) => {
    const names = ownKeys(holder);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== "symbol" && !isLanguages(name)) defineProperty(holder, name, { __proto__: null, enumerable: true });
    }
  };
  lib.constants = (constructor, values) => {
    const names = ownKeys(values);
    for (let i = 0; i < names.length; i++) {
      const shape = { __proto__: null, value: values[names[i]], enumerable: true };
      defineProperty(constructor, names[i], shape);
      defineProperty(constructor.prototype, names[i], shape);
    }
  };

  // Interface objects are not enumerable on the global object, functions and attributes are.
  lib.expose = (name, value, isEnumerable = false) => {
    defineProperty(global, name, { __proto__: null, value, writable: true, configurable: true, enumerable: isEnumerable });
  };

  // Conversions.
  lib.usv = (value) => toWellFormed(lib.toText(value));
  lib.byteString = (value, what) => {
    const text = lib.toText(value);
    for (let i = 0; i < text.length; i++) {
      if (charCodeAt(text, i) > 255) throw new TypeError(what + " contains a character that is not Latin-1");
    }
    return text;
  };
  lib.dictionary = (value, what) => {
    if (value !== undefined && value !== null && !isObject(value)) throw new TypeError(what + " is not an object");
    return value ?? nothing;
  };
  const nothing = Object.freeze({ __proto__: null });
  lib.enumeration = (value, allowed, what) => {
    const text = lib.toText(value);
    for (let i = 0; i < allowed.length; i++) if (allowed[i] === text) return text;
    throw new TypeError("'" + text + "' is not a valid value for " + what);
  };
  lib.int32 = (value) => +value | 0;
  // `[EnforceRange] unsigned long long`, and `unsigned short` with a smaller bound.
  lib.enforceRange = (value, bound, what) => {
    const number = trunc(+value);
    if (!isFinite(number) || number < 0 || number > bound) throw new TypeError(what + " is outside of its range");
    return number + 0;
  };
  // `[Clamp] long long`.
  lib.clamp = (value) => {
    const number = +value;
    if (number !== number) return 0;
    if (number >= 9007199254740991) return 9007199254740991;
    if (number <= -9007199254740991) return -9007199254740991;
    const below = floor(number);
    const rest = number - below;
    if (rest < 0.5) return below;
    if (rest > 0.5) return below + 1;
    return below % 2 === 0 ? below : below + 1;
  };
  lib.callback = (value, what) => {
    if (typeof value !== "function") throw new TypeError(what + " is not a function");
    return value;
  };
  // `sequence<T>` from any iterable, as a list.
  lib.sequence = (value, convert, what) => {
    if (!isObject(value)) throw new TypeError(what + " is not iterable");
    const open = value[iteratorSymbol];
    if (typeof open !== "function") throw new TypeError(what + " is not iterable");
    return iterate(apply(open, value, []), convert, what);
  };
  const iterate = (lib.iterate = (iterator, convert, what) => {
    if (!isObject(iterator)) throw new TypeError(what + " is not iterable");
    const { next } = iterator;
    const items = list();
    for (;;) {
      const result = apply(next, iterator, []);
      if (!isObject(result)) throw new TypeError(what + ": the iterator's result is not an object");
      if (result.done) return items;
      append(items, convert(result.value));
    }
  });

  // Where the bytes of a BufferSource are: `{buffer, offset, length}`; undefined for what is none. A view that is out of
  // its buffer's bounds has no bytes.
  lib.bytesOf = (value) => {
    if (typeof value !== "object") return undefined;
    switch (kindOf(value)) {
      case "view":
        return { __proto__: null, buffer: arrayBuffer(value), offset: arrayOffset(value), length: arrayBytes(value) };
      case "dataview": {
        const buffer = viewBuffer(value);
        try {
          return { __proto__: null, buffer, offset: viewOffset(value), length: viewBytes(value) };
        } catch {
          return { __proto__: null, buffer, offset: 0, length: 0 };
        }
      }
      case "buffer":
        return { __proto__: null, buffer: value, offset: 0, length: bufferLength(value) };
      case "shared":
        return { __proto__: null, buffer: value, offset: 0, length: sharedLength(value) };
    }
    return undefined;
  };
  const sharedLength = getterOf(global.SharedArrayBuffer.prototype, "byteLength");
  // A copy of the bytes of a BufferSource, as a new Uint8Array.
  lib.copyBytes = ({ buffer, offset, length }) => {
    const copy = new Uint8Array(length);
    if (length > 0) lib.arraySet(copy, new Uint8Array(buffer, offset, length));
    return copy;
  };

  // Promises. A promise that is resolved with a promise calls its `then`, and `await` reads its `constructor`: a program
  // may have replaced both, and would get hold of promises that are ours, and of what they are settled with. So scripts
  // do not await, and only `lib.follow` settles a promise as another one.
  //
  // `settle` makes one with its functions.
  const settle = (lib.settle = () => apply(withResolvers, Promise, []));
  // Of what a program may see: it is asked for `then`.
  const resolved = (lib.resolved = (value) => {
    const deferred = settle();
    deferred.resolve(value);
    return deferred.promise;
  });
  lib.rejected = (reason) => {
    const deferred = settle();
    deferred.reject(reason);
    return deferred.promise;
  };
  // Settles `deferred` with a value of ours, or as a promise, when `resolve` would.
  const done = resolved();
  const follow = (lib.follow = (deferred, value) => {
    if (kindOf(value) !== "promise") deferred.resolve(value);
    else promiseThen(done, () => {
      promiseThen(value, deferred.resolve, deferred.reject);
    });
  });
  lib.adopted = (value) => {
    const deferred = settle();
    follow(deferred, value);
    return deferred.promise;
  };
  // A promise of what the function returns that is called when `value`, a promise or not, is settled.
  lib.react = (value, fulfilled, rejected) => {
    const deferred = settle();
    const run = (react) => (value) => {
      try {
        follow(deferred, react === undefined ? undefined : react(value));
      } catch (error) {
        deferred.reject(error);
      }
    };
    promiseThen(kindOf(value) === "promise" ? value : resolved(value), run(fulfilled), run(rejected));
    return deferred.promise;
  };
  // Marks a promise as handled: nobody is told of its rejection.
  const ignore = () => {};
  lib.handled = (promise) => {
    promiseThen(promise, ignore, ignore);
    return promise;
  };

  // `keys`, `values`, `entries`, `forEach` and the iterator of an iterable interface. `pairs(object)` is its live list of
  // `[key, value]` records `{key, value}`; it throws for a wrong receiver.
  lib.pairIterable = (constructor, pairs) => {
    const { prototype } = constructor;
    const IteratorPart = class {
      #state;
      constructor(target, kind) {
        this.#state = { __proto__: null, target, kind, at: 0 };
      }
      static next(iterator) {
        let state;
        try {
          state = iterator.#state;
        } catch {
          illegal();
        }
        const items = pairs(state.target);
        if (state.at >= items.length) return { value: undefined, done: true };
        const { key, value } = items[state.at];
        state.at += 1;
        const result = state.kind === "key" ? key : state.kind === "value" ? value : [key, value];
        return { value: result, done: false };
      }
    };
    const { next: advance } = IteratorPart;
    const iteratorPrototype = create(IteratorPrototype, {
      __proto__: null,
      next: { __proto__: null, value: { next() { return advance(this); } }.next, enumerable: true, configurable: true, writable: true },
      [tagSymbol]: { __proto__: null, value: constructor.name + " Iterator", configurable: true },
    });
    const open = (target, kind) => {
      pairs(target);
      const iterator = new IteratorPart(target, kind);
      setPrototypeOf(iterator, iteratorPrototype);
      return iterator;
    };
    const members = {
      entries() {
        return open(this, "entry");
      },
      forEach(callback, thisArg = undefined) {
        pairs(this);
        lib.need(arguments.length, 1, "forEach' on '" + constructor.name);
        lib.callback(callback, "parameter 1");
        for (let i = 0; ; i++) {
          const items = pairs(this);
          if (i >= items.length) return;
          const { key, value } = items[i];
          apply(callback, thisArg, [value, key, this]);
        }
      },
      keys() {
        return open(this, "key");
      },
      values() {
        return open(this, "value");
      },
    };
    const names = ownKeys(members);
    for (let i = 0; i < names.length; i++) {
      defineProperty(prototype, names[i], { __proto__: null, value: members[names[i]], enumerable: true, configurable: true, writable: true });
    }
    defineProperty(prototype, iteratorSymbol, { __proto__: null, value: members.entries, configurable: true, writable: true });
  };
});
