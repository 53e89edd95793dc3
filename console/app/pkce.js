/**
 * What proves that whoever takes a code is whoever asked for it (RFC 7636).
 */

/** A word that nobody guesses, safe in an address. */
export const secret = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** What goes with the request for a code: the digest of *verifier*. @param {string} verifier */
export const challenge = async (verifier) =>
  base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));

/** @param {Uint8Array} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** The claims of *token*, unverified: for showing and comparing only; null when it is no JWT. @param {unknown} token @returns {Record<string, any> | null} */
export function claimsOf(token) {
  if (typeof token !== "string") return null;
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(payload), (one) => one.charCodeAt(0));
    const claims = JSON.parse(new TextDecoder().decode(bytes));
    return claims && typeof claims === "object" ? claims : null;
  } catch {
    return null;
  }
}
