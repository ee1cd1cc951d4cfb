// What readable, writable and transform streams share: queues, strategies, calls of a program's algorithms.
(function (lib) {
  const { apply, define, expose, illegal, need, dictionary, callback, resolved, rejected, Object, RangeError, TypeError } = lib;

  // A queue of values with sizes.
  lib.newQueue = () => ({ __proto__: null, first: undefined, last: undefined, length: 0, total: 0 });
  lib.enqueue = (queue, value, size = 0) => {
    const entry = { __proto__: null, value, size, next: undefined };
    if (queue.last === undefined) queue.first = entry;
    else queue.last.next = entry;
    queue.last = entry;
    queue.length += 1;
    queue.total += size;
  };
  lib.dequeue = (queue) => {
    const { first } = queue;
    queue.first = first.next;
    if (first.next === undefined) queue.last = undefined;
    queue.length -= 1;
    // What rounding leaves of a sum stays, even in an empty queue, unless it is negative.
    queue.total -= first.size;
    if (queue.total < 0) queue.total = 0;
    return first.value;
  };
  lib.resetQueue = (queue) => {
    queue.first = queue.last = undefined;
    queue.length = queue.total = 0;
  };
  lib.checkSize = (size) => {
    if (size !== size || size < 0 || size === 1 / 0) throw new RangeError("The size of a chunk must be a finite, non-negative number");
    return size;
  };

  // Strategies: `highWaterMark` and `size` of a dictionary that a program passes.
  lib.strategyOf = (value) => {
    const holder = dictionary(value, "strategy");
    const { highWaterMark } = holder;
    const mark = highWaterMark === undefined ? undefined : +highWaterMark;
    const { size } = holder;
    if (size !== undefined) callback(size, "strategy.size");
    return { __proto__: null, mark, size: size === undefined ? undefined : (chunk) => +apply(size, undefined, [chunk]) };
  };
  lib.markOf = (strategy, initial) => {
    const { mark } = strategy;
    if (mark === undefined) return initial;
    if (mark !== mark || mark < 0) throw new RangeError("The high water mark must be a non-negative number");
    return mark;
  };
  lib.countOne = () => 1;

  const sizes = { size: (chunk) => chunk.byteLength };
  const counts = { size: () => 1 };
  class ByteLengthQueuingStrategy {
    #mark;
    constructor(init) {
      need(arguments.length, 1, "constructor' on 'ByteLengthQueuingStrategy");
      this.#mark = markFrom(init);
    }
    get highWaterMark() {
      return #mark in Object(this) ? this.#mark : illegal();
    }
    get size() {
      return #mark in Object(this) ? sizes.size : illegal();
    }
  }
  class CountQueuingStrategy {
    #mark;
    constructor(init) {
      need(arguments.length, 1, "constructor' on 'CountQueuingStrategy");
      this.#mark = markFrom(init);
    }
    get highWaterMark() {
      return #mark in Object(this) ? this.#mark : illegal();
    }
    get size() {
      return #mark in Object(this) ? counts.size : illegal();
    }
  }
  const markFrom = (init) => {
    const { highWaterMark } = dictionary(init, "init");
    if (highWaterMark === undefined) throw new TypeError("'highWaterMark' is required");
    return +highWaterMark;
  };
  expose("ByteLengthQueuingStrategy", define(ByteLengthQueuingStrategy));
  expose("CountQueuingStrategy", define(CountQueuingStrategy));

  // A member of an underlying source or sink: undefined, or a function to call on it.
  lib.algorithm = (holder, name) => {
    const value = holder[name];
    return value === undefined ? undefined : callback(value, name);
  };
  // Calls it; what it throws becomes a rejection. Web IDL resolves a new promise with what it returns, even with a promise.
  lib.callAsync = (f, receiver, args) => {
    try {
      return resolved(apply(f, receiver, args));
    } catch (error) {
      return rejected(error);
    }
  };
});
