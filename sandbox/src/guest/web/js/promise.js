// `Promise.any` (ECMA-262, 27.2.4.3): the engine's rejects with an error that has no message.
(function (lib) {
  const { apply, defineProperty, list, append, arrayOf, TypeError, global } = lib;
  const { AggregateError } = global;

  const { any } = {
    any(iterable) {
      let resolve;
      let reject;
      const promise = new this((onResolve, onReject) => {
        if (resolve !== undefined || reject !== undefined) throw new TypeError("A promise executor was called before.");
        resolve = onResolve;
        reject = onReject;
      });
      if (typeof resolve !== "function" || typeof reject !== "function") throw new TypeError("A promise executor gave no functions.");
      const reasons = list();
      let left = 1;
      const lose = () => {
        left -= 1;
        if (left === 0) apply(reject, undefined, [new AggregateError(arrayOf(reasons), "All promises were rejected")]);
      };
      try {
        const { resolve: resolved } = this;
        if (typeof resolved !== "function") throw new TypeError("Promise resolve or reject function is not callable");
        // The program's own iterable, in the language's own way.
        for (const item of iterable) {
          const at = reasons.length;
          append(reasons, undefined);
          left += 1;
          let called = false;
          apply(resolved, this, [item]).then(resolve, (reason) => {
            if (called) return;
            called = true;
            reasons[at] = reason;
            lose();
          });
        }
        lose();
      } catch (error) {
        apply(reject, undefined, [error]);
      }
      return promise;
    },
  };
  defineProperty(global.Promise, "any", { __proto__: null, value: any, writable: true, enumerable: false, configurable: true });
})
