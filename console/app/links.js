/**
 * Which addresses may be opened: https, and http on this machine alone. What others wrote is never trusted further.
 */

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * *text* as an address that may be opened, or null.
 * @param {unknown} text
 * @returns {URL | null}
 */
export function safeLink(text) {
  if (typeof text !== "string") return null;
  let url;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  if (url.username || url.password) return null;
  if (url.protocol === "https:") return url;
  return url.protocol === "http:" && LOOPBACK.includes(url.hostname) ? url : null;
}

/**
 * *text* in pieces: what is an address that may be opened, and all else as it came.
 * @param {string} text
 * @returns {(string | URL)[]}
 */
export function linked(text) {
  const pieces = [];
  let from = 0;
  for (const found of text.matchAll(
    /https?:\/\/[^\s<>"'`{}|\\^\u0000-\u0020\u200b-\u200f\u202a-\u202e\u2066-\u2069]+/g,
  )) {
    const written = found[0].replace(/[.,;:!?)\]]+$/, "");
    const url = safeLink(written);
    if (!url) continue;
    pieces.push(text.slice(from, found.index), url);
    from = found.index + written.length;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== "");
}
