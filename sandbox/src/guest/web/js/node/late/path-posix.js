// `path/posix`: the same as `path`.
(function (lib) {
  return lib.load("node/late/path.js");
});
