/**
 * Where this deployment signs people in, and where its providers do.
 */

/**
 * @typedef {object} Config
 * @property {string} issuer
 * @property {string} authorization_endpoint
 * @property {string} token_endpoint
 * @property {string | null} end_session_endpoint
 * @property {string} client_id
 * @property {string} scope
 * @property {string} redirect_uri where the issuer sends people back to
 * @property {string} post_logout_redirect_uri
 * @property {Record<string, string>} [providers] where a person authorises each of them
 */

/** @type {Config} */
export let config;

/** Fetch it; without it there is nothing to sign in to. */
export async function loadConfig() {
  const answer = await fetch("/config.json", { cache: "no-cache" });
  if (!answer.ok) throw new Error(`config.json: ${answer.status}`);
  config = await answer.json();
}
