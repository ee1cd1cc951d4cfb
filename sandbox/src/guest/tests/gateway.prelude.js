// A gateway's prelude: its namespaces are not providers of the run, but call the one hidden provider there is; and what the
// host says of a failed call is framed in the message, from where it is decoded before the program sees the error.
const FRAME = "\u0001connecta:";
for (const id of ["github", "files"]) {
  const members = new Map();
  const member = (tool) => {
    if (!members.has(tool)) members.set(tool, (...args) => connecta.__callNamespace(id, tool, args));
    return members.get(tool);
  };
  const handler = { get: (_, tool) => (typeof tool !== "string" || tool === "then" ? undefined : member(tool)) };
  const namespace = new Proxy(Object.freeze(Object.create(null)), Object.freeze(handler));
  Object.defineProperty(globalThis, id, { value: namespace, enumerable: true });
}
const NativeError = globalThis.Error;
const decoding = new Proxy(NativeError, {
  construct(target, args, newTarget) {
    const [message, ...rest] = args;
    if (typeof message !== "string" || !message.startsWith(FRAME)) return Reflect.construct(target, args, newTarget);
    const { text, code, retryable, details } = JSON.parse(message.slice(FRAME.length));
    return Object.assign(Reflect.construct(target, [text, ...rest], newTarget), { code, retryable, details });
  },
});
Object.defineProperty(NativeError.prototype, "constructor", { value: decoding });
Object.defineProperty(globalThis, "Error", { value: decoding, writable: false, configurable: false });
