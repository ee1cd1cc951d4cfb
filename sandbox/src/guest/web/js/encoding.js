// TextEncoder and TextDecoder (Encoding), over native tables.
(function (lib) {
  const { native, define, expose, illegal, isObject, usv, dictionary, need, bytesOf, kindOf, RangeError, TypeError, arrayTag, arrayBuffer, arrayOffset, arrayBytes, ArrayBuffer } = lib;

  class TextEncoder {
    #brand;
    constructor() {}
    get encoding() {
      if (!isEncoder(this)) illegal();
      return "utf-8";
    }
    encode(input = "") {
      if (!isEncoder(this)) illegal();
      return native.utf8Encode(lib.toText(input));
    }
    encodeInto(source, destination) {
      if (!isEncoder(this)) illegal();
      need(arguments.length, 2, "encodeInto' on 'TextEncoder");
      const text = lib.toText(source);
      if (kindOf(destination) !== "view" || arrayTag(destination) !== "Uint8Array") {
        throw new TypeError("Failed to execute 'encodeInto' on 'TextEncoder': parameter 2 is not of type 'Uint8Array'.");
      }
      const { read, written } = native.utf8EncodeInto(text, arrayBuffer(destination), arrayOffset(destination), arrayBytes(destination));
      return { read, written };
    }
    static {
      lib.isTextEncoder = (value) => isObject(value) && #brand in value;
    }
  }
  const isEncoder = lib.isTextEncoder;
  define(TextEncoder, isEncoder);
  expose("TextEncoder", TextEncoder);

  // The encoding with this label.
  const encodingOf = (lib.encodingOf = (label) => {
    const text = usv(label);
    const encoding = native.encodingName(text);
    if (encoding === undefined) throw new RangeError('The "' + text + '" encoding is not supported');
    return encoding;
  });
  const empty = new ArrayBuffer(0);
  const nothing = { __proto__: null, buffer: empty, offset: 0, length: 0 };

  let slots;
  class TextDecoder {
    #slots;
    constructor(label = "utf-8", options = undefined) {
      const encoding = encodingOf(label);
      const { fatal = false, ignoreBOM = false } = dictionary(options, "options");
      this.#slots = { __proto__: null, encoding, fatal: !!fatal, ignoreBOM: !!ignoreBOM, stream: undefined };
    }
    static {
      slots = (decoder) => {
        try {
          return decoder.#slots;
        } catch {
          return illegal();
        }
      };
      lib.isTextDecoder = (value) => isObject(value) && #slots in value;
    }
    get encoding() {
      return slots(this).encoding;
    }
    get fatal() {
      return slots(this).fatal;
    }
    get ignoreBOM() {
      return slots(this).ignoreBOM;
    }
    decode(input = undefined, options = undefined) {
      const state = slots(this);
      if (input !== undefined && bytesOf(input) === undefined) {
        throw new TypeError("Failed to execute 'decode' on 'TextDecoder': parameter 1 is not of type 'ArrayBuffer' or a view of one.");
      }
      const more = !!dictionary(options, "options").stream;
      // Where the bytes are is asked after the options were read: reading them may have moved the buffer.
      return decodeSome(state, input === undefined ? nothing : bytesOf(input), more);
    }
  }
  const decodeSome = (lib.decodeSome = (state, { buffer, offset, length }, more) => {
    if (!more && state.stream === undefined) {
      return native.decodeOnce(state.encoding, state.fatal, state.ignoreBOM, buffer, offset, length);
    }
    const stream = state.stream ?? native.newDecoder(state.encoding, state.fatal, state.ignoreBOM);
    state.stream = undefined;
    const text = native.decode(stream, buffer, offset, length, !more);
    if (more) state.stream = stream;
    return text;
  });
  // Text of bytes as "UTF-8 decode" reads them.
  lib.utf8Text = ({ buffer, offset, length }) => native.decodeOnce("utf-8", false, false, buffer, offset, length);
  define(TextDecoder, lib.isTextDecoder);
  expose("TextDecoder", TextDecoder);

  // The engine has these two; it does not insist on their argument.
  const { atob, btoa } = lib.global;
  const base64 = {
    atob(data) {
      need(arguments.length, 1, "atob");
      return atob(lib.toText(data));
    },
    btoa(data) {
      need(arguments.length, 1, "btoa");
      return btoa(lib.toText(data));
    },
  };
  expose("atob", base64.atob, true);
  expose("btoa", base64.btoa, true);
});
