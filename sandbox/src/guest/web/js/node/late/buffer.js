// `buffer`.
(function (lib) {
  const { native, bytesOf, Buffer, bufferEncoding, coded, Error, badType, kindOf, arrayTag } = lib;
  const { Blob, File, atob, btoa } = lib.bufferGlobals;

  const place = (input) => {
    const found = bytesOf(input);
    if (found === undefined) throw badType("input", "an instance of ArrayBuffer, Buffer, or TypedArray", input);
    if (kindOf(input) === "buffer" && lib.bufferDetached(input)) {
      throw coded(Error, "ERR_INVALID_STATE", "Invalid state: Cannot validate on a detached buffer");
    }
    return found;
  };
  const SlowBuffer = function SlowBuffer(length) {
    return Buffer.allocUnsafeSlow(length);
  };
  lib.setPrototypeOf(SlowBuffer.prototype, lib.Uint8Array.prototype);
  lib.setPrototypeOf(SlowBuffer, lib.Uint8Array);
  const members = {
    Blob,
    Buffer,
    File,
    INSPECT_MAX_BYTES: 50,
    SlowBuffer,
    atob,
    btoa,
    constants: { MAX_LENGTH: lib.bufferMax, MAX_STRING_LENGTH: lib.bufferStringMax },
    isAscii(input) {
      const { buffer, offset, length } = place(input);
      return native.isAscii(buffer, offset, length);
    },
    isUtf8(input) {
      const { buffer, offset, length } = place(input);
      return native.isUtf8(buffer, offset, length);
    },
    kMaxLength: lib.bufferMax,
    kStringMaxLength: lib.bufferStringMax,
    transcode(source, fromEncoding, toEncoding) {
      if (kindOf(source) !== "view" || arrayTag(source) !== "Uint8Array") throw badType("source", "an instance of Buffer or Uint8Array", source);
      const from = bufferEncoding(fromEncoding), to = bufferEncoding(toEncoding);
      // UTF-8, UTF-16, Latin-1 and ASCII.
      if (!(from <= 3 && to <= 3)) throw coded(Error, "U_ILLEGAL_ARGUMENT_ERROR", "Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]");
      const { buffer, offset, length } = bytesOf(source);
      const text = native.decodeBytes(from === 3 ? 2 : from, buffer, offset, length);
      return lib.adoptBuffer(native.encodeText(to === 2 || to === 3 ? substituted(text, to === 2 ? 255 : 127) : text, to));
    },
  };
  // What an encoding of one byte has no place for becomes a question mark; a pair of surrogates one.
  const substituted = (text, highest) => {
    let result = "";
    for (let i = 0; i < text.length; i++) {
      const code = lib.charCodeAt(text, i);
      if (code <= highest) result += lib.slice(text, i, i + 1);
      else {
        const next = lib.charCodeAt(text, i + 1);
        if (code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) i++;
        result += "?";
      }
    }
    return result;
  };
  return { __proto__: null, ...members, default: members };
});
