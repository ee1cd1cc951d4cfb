// Touches what an ordinary program touches: calls, promises, JSON, strings, collections, errors, the console.
async () => {
  const call = warm.tool({ id: 1, tags: ["a", "b"], text: "x\n", ratio: 0.5 });
  console.log("warm", 1, null);
  const parsed = JSON.parse('{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"more":false,"size":1.5}');
  const names = parsed.items.filter((item) => item.id > 0).map(({ name, ...rest }) => `${name}:${rest.id}`);
  const counts = new Map(names.map((name) => [name, name.length]));
  const kinds = new Set(counts.keys());
  await Promise.all([Promise.resolve(1), (async () => 2)()]);
  try {
    throw new Error("warm");
  } catch (error) {
    names.push(error.message);
  }
  class Point {
    constructor(x) {
      this.x = x;
    }
  }
  return {
    names: names.sort(),
    size: kinds.size,
    text: JSON.stringify(parsed).replace(/a/g, "b").split(",").join(";"),
    when: new Date(0),
    bytes: new Uint8Array(2),
    point: new Point(Math.floor(Math.random() * 2)),
    pending: call instanceof Promise,
    big: 1n,
    nothing: undefined,
  };
}
