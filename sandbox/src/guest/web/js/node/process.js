// `process` as the reference has it, and the clocks of Node's. Nothing in it is of the host: there is no environment, no
// user, no process number, and `version` and `versions` are absent, so that no program takes itself to be in Node.
(function (lib) {
  const { apply, native, expose, freeze, floor, isArray, Error, BigInt, global, needFunction, defineProperty } = lib;
  const { queueMicrotask } = global;

  const hrtime = {
    hrtime(previous) {
      if (previous !== undefined) {
        if (!isArray(previous)) throw lib.badType("time", "an instance of Array", previous);
        if (previous.length !== 2) throw lib.outOfRange("time", "2", previous.length);
      }
      const micros = floor(native.now() * 1000);
      let seconds = floor(micros / 1e6), nanos = (micros % 1e6) * 1000;
      if (previous !== undefined) {
        seconds -= previous[0];
        nanos -= previous[1];
        if (nanos < 0) {
          seconds -= 1;
          nanos += 1e9;
        }
      }
      return [seconds, nanos];
    },
    bigint() {
      return BigInt(floor(native.now() * 1000)) * 1000n;
    },
  };
  defineProperty(hrtime.hrtime, "bigint", { __proto__: null, value: hrtime.bigint, writable: true, enumerable: true, configurable: true });

  const process = {
    env: {},
    exit(code) {
      throw new Error("The Node.js process.exit(" + (code === undefined ? 0 : code) + ") API was called. Canceling the request.");
    },
    features: freeze({
      inspector: false, debug: false, uv: false, ipv6: false, tls_alpn: false, tls_sni: false, tls_ocsp: false, tls: false, cached_builtins: true,
    }),
    getBuiltinModule(id) {
      lib.needString(id, "id");
      const members = lib.nodeModule(id);
      return members === undefined ? undefined : members.default;
    },
    // Behind the jobs that are queued already, as in the reference; Node runs it before them.
    nextTick(callback, ...args) {
      needFunction(callback, "callback");
      queueMicrotask(() => {
        apply(callback, undefined, args);
      });
    },
    platform: "linux",
    argv: [],
    cwd() {
      return "/";
    },
    hrtime: hrtime.hrtime,
    uptime() {
      return native.now() / 1000;
    },
  };
  lib.process = process;
  expose("process", process, true);
});
