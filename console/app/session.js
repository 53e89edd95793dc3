/**
 * Who is signed in: the code flow with PKCE. The token lives in this module's memory and nowhere else, so a reload
 * signs in again, which the issuer answers without a word while it knows the person.
 *
 * What a sign-in needs when it comes back (verifier, nonce, which view) lies in session storage under its `state`, from
 * the way out to the way back.
 */

import { config } from "./config.js";
import { challenge, claimsOf, secret } from "./pkce.js";

const PENDING = "sign-in.";
const WHOSE = "whose";
const MINUTE = 60_000;
/** From so long before its end a token is renewed, in a quiet moment. */
const EARLY = 2 * MINUTE;
/** A token that was refused so soon after it was given will not become better by asking for another. */
const TOO_SOON = 10_000;
/** Nobody typed for so long: a redirect now disturbs least. */
const QUIET = 3000;
const UNNAMED_LIFETIME_S = 300;

/** @typedef {{token: string, since: number, until: number, name: string, user: string, isBad?: boolean}} Session */

/** @type {Session | null} */
let session = null;
let isLeaving = false;
let lastKey = 0;
let busy = 0;
/** @type {(() => void)[]} */
const beforeLeaving = [];

addEventListener("input", () => (lastKey = Date.now()), true);
addEventListener("keydown", () => (lastKey = Date.now()), true);

export class SignInFailed extends Error {}

export const isSignedIn = () => session !== null;
export const person = () => session?.name ?? "";
export const token = () => session?.token ?? "";
/** What is kept in this tab from now on is this person's. */
export const claim = () => sessionStorage.setItem(WHOSE, session?.user ?? "");

/** Have *keep* called before the page is left for the issuer. @param {() => void} keep */
export const onLeaving = (keep) => beforeLeaving.push(keep);

/** No renewal while *work* goes on, such as an upload. @template T @param {Promise<T>} work @returns {Promise<T>} */
export async function undisturbed(work) {
  busy += 1;
  try {
    return await work;
  } finally {
    busy -= 1;
  }
}

/** Go to the issuer, and come back to the view that is shown now. */
export async function signIn() {
  if (isLeaving) return;
  isLeaving = true;
  for (const keep of beforeLeaving) keep();
  const [state, nonce, verifier] = [secret(), secret(), secret()];
  sessionStorage.setItem(PENDING + state, JSON.stringify({ nonce, verifier, view: location.hash }));
  const url = new URL(config.authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: config.client_id,
    redirect_uri: config.redirect_uri,
    scope: config.scope,
    state,
    nonce,
    code_challenge: await challenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  location.replace(url);
}

/** Take what the issuer sent us back with, if it did, out of the address at once; raises SignInFailed. */
export async function comeBack() {
  const said = new URLSearchParams(location.search);
  if (!said.has("state") && !said.has("code") && !said.has("error")) return;
  const pending = take(said.get("state"));
  history.replaceState(null, "", `/${pending?.view ?? ""}`);
  if (!pending) throw new SignInFailed("state");
  const code = said.get("code");
  if (!code) throw new SignInFailed(said.get("error") ?? "code");
  const answer = await fetch(config.token_endpoint, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: config.client_id,
      code,
      redirect_uri: config.redirect_uri,
      code_verifier: pending.verifier,
    }),
    credentials: "omit",
    cache: "no-store",
  });
  if (!answer.ok) throw new SignInFailed(`token ${answer.status}`);
  begin(await answer.json(), pending.nonce);
}

/** @param {Record<string, any>} given @param {string} nonce */
function begin(given, nonce) {
  if (typeof given.access_token !== "string" || !given.access_token) throw new SignInFailed("access_token");
  const identity = claimsOf(given.id_token);
  if (identity && !isOurs(identity, nonce)) throw new SignInFailed("id_token");
  const claims = { ...claimsOf(given.access_token), ...identity };
  const lifetime = Number(given.expires_in) || UNNAMED_LIFETIME_S;
  const named =
    claims.name ?? claims.preferred_username ?? claims["cognito:username"] ?? claims.username ?? claims.email;
  const user = String(claims.sub ?? "");
  // What somebody else wrote in this tab is none of this person's.
  if (![null, user].includes(sessionStorage.getItem(WHOSE))) sessionStorage.clear();
  const since = Date.now();
  session = { token: given.access_token, since, until: since + lifetime * 1000, name: String(named ?? user), user };
}

/** @param {Record<string, any>} identity @param {string} nonce */
const isOurs = (identity, nonce) =>
  identity.nonce === nonce && identity.iss === config.issuer && [identity.aud].flat().includes(config.client_id);

/** Forget everything and go to the issuer to be forgotten there too, if it offers that. */
export function signOut() {
  session = null;
  isLeaving = true;
  sessionStorage.clear();
  if (!config.end_session_endpoint) {
    location.replace(config.post_logout_redirect_uri);
    return;
  }
  const url = new URL(config.end_session_endpoint);
  url.searchParams.set("client_id", config.client_id);
  // OpenID Connect's name for it, and Cognito's. No hint of a token: that would stand in an address.
  url.searchParams.set("post_logout_redirect_uri", config.post_logout_redirect_uri);
  url.searchParams.set("logout_uri", config.post_logout_redirect_uri);
  location.replace(url);
}

/** An answer came, so the issuer is likely there too: a token that ends soon is renewed, unless somebody is typing. */
export function renewInTime() {
  if (!session || Date.now() < session.until - Math.min(EARLY, (session.until - session.since) / 4)) return;
  if (busy || Date.now() - lastKey < QUIET || document.hidden) return;
  signIn();
}

/** The token was refused: get another; false when that would not help. */
export function renewRefused() {
  if (isLeaving) return true;
  if (!session) return false;
  session.isBad ||= Date.now() - session.since < TOO_SOON;
  if (session.isBad) return false;
  signIn();
  return true;
}

/** @param {string | null} state @returns {{nonce: string, verifier: string, view: string} | null} */
function take(state) {
  const kept = state === null ? null : sessionStorage.getItem(PENDING + state);
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(PENDING)) sessionStorage.removeItem(name);
  return kept === null ? null : JSON.parse(kept);
}
