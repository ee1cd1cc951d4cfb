// `process` as a module.
(function (lib) {
  return { __proto__: null, ...lib.process, default: lib.process };
});
