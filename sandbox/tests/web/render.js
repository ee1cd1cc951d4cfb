// Renders any value as one line of text, the same in Node and here, so that outcomes can be compared. `(render, failure)`.
(() => {
  const { Array, ArrayBuffer, BigInt, Boolean, DOMException, DataView, Date, Error, JSON, Map, Number, Object, RegExp, Set, String, Uint8Array } = globalThis;
  const typed = Object.getPrototypeOf(Uint8Array);
  const render = (value, depth = 0, seen = []) => {
    if (depth > 12) return "…";
    switch (typeof value) {
      case "string":
        return JSON.stringify(value);
      case "bigint":
        return `${value}n`;
      case "symbol":
        return value.toString();
      case "function":
        return `function ${value.name}/${value.length}`;
      case "number":
        return Object.is(value, -0) ? "-0" : String(value);
      case "object":
        break;
      default:
        return String(value);
    }
    if (value === null) return "null";
    if (seen.includes(value)) return `↑${seen.length - seen.indexOf(value)}`;
    const inner = (item) => render(item, depth + 1, [...seen, value]);
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    if (Array.isArray(value)) {
      const items = [];
      for (let i = 0; i < value.length; i++) items.push(Object.hasOwn(value, i) ? inner(value[i]) : "hole");
      for (const key of Object.keys(value)) if (!/^\d+$/.test(key)) items.push(`${key}: ${inner(value[key])}`);
      return `[${items.join(", ")}]`;
    }
    if (value instanceof DOMException) return `DOMException ${value.name} ${value.code}`;
    if (value instanceof Error) return `${value.name}${Object.hasOwn(value, "cause") ? ` cause ${inner(value.cause)}` : ""}`;
    if (value instanceof Map) return `Map{${[...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`).join(", ")}}`;
    if (value instanceof Set) return `Set{${[...value].map(inner).join(", ")}}`;
    if (value instanceof Date) return `Date ${value.getTime()}`;
    if (value instanceof RegExp) return `${value}@${value.lastIndex}`;
    if (value instanceof ArrayBuffer) {
      return `ArrayBuffer(${value.resizable ? `max ${value.maxByteLength} ` : ""}${[...new Uint8Array(value)].join(" ")})`;
    }
    if (value instanceof DataView) return `DataView(${value.byteOffset}+${value.byteLength})`;
    if (value instanceof typed) return `${tag}(${[...value].map(String).join(" ")})`;
    if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt) {
      return `Object(${inner(value.valueOf())})`;
    }
    const fields = Object.keys(value).map((key) => `${JSON.stringify(key)}: ${inner(value[key])}`);
    const prototype = Object.getPrototypeOf(value);
    const name = prototype === Object.prototype ? "" : prototype === null ? "null " : `${tag} `;
    return `${name}{${fields.join(", ")}}`;
  };
  const failure = (error) => (error instanceof Error ? `!${error.name}` : `!thrown ${render(error)}`);
  return async (body) => {
    try {
      return render(await body());
    } catch (error) {
      return failure(error);
    }
  };
})()
