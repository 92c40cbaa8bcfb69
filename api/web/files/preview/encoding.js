/** The text in a file's bytes, and back: its line ends and its mark at the beginning stay as they are. */

/** @typedef {{text: string, lineEnd: "\n" | "\r\n", hasMark: boolean, isUtf8: boolean}} Decoded */

const MARK = "\ufeff";
/** What files in other encodings most often are. The last one takes nearly anything, so it stands last. */
const OTHERS = ["gb18030", "windows-1252"];

/**
 * @param {Uint8Array} bytes
 * @returns {Decoded}
 */
export function decode(bytes) {
  const found = decoded(bytes, "utf-8");
  if (found !== null) return split(found, true);
  const wide =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "";
  for (const encoding of wide ? [wide] : OTHERS) {
    const other = decoded(bytes, encoding);
    if (other !== null) return { ...split(other, false), hasMark: false };
  }
  return split(new TextDecoder().decode(bytes), false);
}

/** @param {Uint8Array} bytes @param {string} encoding */
function decoded(bytes, encoding) {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** @param {string} whole @param {boolean} isUtf8 @returns {Decoded} */
function split(whole, isUtf8) {
  const hasMark = whole.startsWith(MARK);
  const text = hasMark ? whole.slice(1) : whole;
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return { text: text.replaceAll("\r\n", "\n"), lineEnd, hasMark, isUtf8 };
}

/**
 * @param {string} text as it stands in the field
 * @param {{lineEnd: string, hasMark: boolean}} how
 */
export function encode(text, { lineEnd, hasMark }) {
  return new TextEncoder().encode((hasMark ? MARK : "") + text.replaceAll("\n", lineEnd));
}
