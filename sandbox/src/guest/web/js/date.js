// What the engine's Date does otherwise than ECMA-262, and than programs know it.
(function (lib) {
  const { apply, defineProperty, getOwnPropertyDescriptor, Date } = lib;
  const { prototype } = Date;
  const { getTime, setTime } = prototype;
  const replace = (name, make) => {
    const descriptor = getOwnPropertyDescriptor(prototype, name);
    const method = make(descriptor.value);
    defineProperty(method, "length", { __proto__: null, value: descriptor.value.length, configurable: true });
    defineProperty(prototype, name, { __proto__: null, value: method, writable: true, configurable: true });
  };

  // The engine's text ends with the offset; V8's has the zone's name behind that, and there is one zone.
  const TEXTS = ["toString", "toTimeString"];
  for (let i = 0; i < TEXTS.length; i++) {
    const name = TEXTS[i];
    replace(name, (original) => ({
      [name]() {
        const text = apply(original, this, []);
        return text === "Invalid Date" ? text : text + " (Coordinated Universal Time)";
      },
    })[name]);
  }

  // What is no number makes a date invalid; the engine says so and leaves the date as it was. One that was invalid before,
  // which only a year mends, is left as converting the arguments made it.
  const SETTERS = ["setMilliseconds", "setSeconds", "setMinutes", "setHours", "setDate", "setMonth", "setFullYear", "setUTCMilliseconds", "setUTCSeconds", "setUTCMinutes", "setUTCHours", "setUTCDate", "setUTCMonth", "setUTCFullYear"];
  for (let i = 0; i < SETTERS.length; i++) {
    const name = SETTERS[i];
    const mendsDates = name === "setFullYear" || name === "setUTCFullYear";
    replace(name, (original) => ({
      [name](...parts) {
        const before = apply(getTime, this, []);
        const time = apply(original, this, parts);
        return time === time || (before !== before && !mendsDates) ? time : apply(setTime, this, [time]);
      },
    })[name]);
  }
});
