// Through `constructor` of each of these a program reaches a function constructor.
[
  ["Function", Function.prototype],
  ["AsyncFunction", Object.getPrototypeOf(async function () {})],
  ["GeneratorFunction", Object.getPrototypeOf(function* () {})],
  ["AsyncGeneratorFunction", Object.getPrototypeOf(async function* () {})],
]
