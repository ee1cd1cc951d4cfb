// Timers (HTML, 8.6), `setImmediate`, `scheduler.wait`. The queue is native; callbacks are kept here by id.
(function (lib) {
  const { apply, global, native, define, expose, int32, Map, mapGet, mapSet, mapDelete, need, TypeError, guard, secret, illegal, settle, dictionary } = lib;

  const entries = new Map();
  const start = (name, callback, delay, args, repeat) => {
    if (typeof callback !== "function") {
      throw new TypeError("Failed to execute '" + name + "' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'function'.");
    }
    const id = native.setTimer(delay > 0 ? delay : 0, repeat);
    mapSet(entries, id, { __proto__: null, callback, args, repeat });
    return id;
  };
  const stop = (id) => {
    const timer = int32(id);
    if (mapDelete(entries, timer)) native.clearTimer(timer);
  };
  lib.fireTimer = (id) => {
    const entry = mapGet(entries, id);
    if (entry === undefined) return;
    if (!entry.repeat) mapDelete(entries, id);
    try {
      apply(entry.callback, global, entry.args);
    } catch (error) {
      lib.report(error);
    }
  };
  lib.startTimer = (delay, callback) => start("setTimeout", callback, delay, [], false);
  lib.stopTimer = stop;

  const functions = {
    setTimeout(callback, delay = 0, ...args) {
      return start("setTimeout", callback, int32(delay), args, false);
    },
    setInterval(callback, delay = 0, ...args) {
      return start("setInterval", callback, int32(delay), args, true);
    },
    setImmediate(callback, ...args) {
      return start("setImmediate", callback, 0, args, false);
    },
    clearTimeout(id = 0) {
      stop(id);
    },
    clearInterval(id = 0) {
      stop(id);
    },
    clearImmediate(id = 0) {
      stop(id);
    },
  };
  const names = lib.ownKeys(functions);
  for (let i = 0; i < names.length; i++) expose(names[i], functions[names[i]], true);

  class Scheduler {
    #brand;
    constructor(token = undefined) {
      guard(token);
    }
    wait(delay, options = undefined) {
      if (!(#brand in this)) illegal();
      need(arguments.length, 1, "wait' on 'Scheduler");
      const time = int32(delay);
      const { signal } = dictionary(options, "options");
      if (signal !== undefined && !lib.isAbortSignal(signal)) throw new TypeError("'signal' is not an AbortSignal");
      const { promise, resolve, reject } = settle();
      if (signal !== undefined && lib.abortState(signal).aborted) {
        reject(lib.abortState(signal).reason);
        return promise;
      }
      const forget = { __proto__: null, run: undefined };
      const timer = lib.startTimer(time, () => {
        forget.run?.();
        resolve();
      });
      if (signal !== undefined) {
        forget.run = lib.onAbort(signal, () => {
          stop(timer);
          reject(lib.abortState(signal).reason);
        });
      }
      return promise;
    }
  }
  define(Scheduler);
  expose("Scheduler", Scheduler);
  expose("scheduler", new Scheduler(secret), true);
});
