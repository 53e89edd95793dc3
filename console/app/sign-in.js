// Signs people in by the code flow with PKCE. The token is in this module's memory and nowhere else: a page that was
// loaded again signs in again, which nobody sees while the issuer still knows them.

const ROUND = "turnkeeper.sign-in";

let token = null;

export class SignInFailed extends Error {}

/** The configuration of this deployment. */
export async function readConfig() {
  const answer = await fetch("/config.json", { cache: "no-store" });
  if (!answer.ok) throw new SignInFailed(`config.json: ${answer.status}`);
  return answer.json();
}

/** The access token, or null: then call `signIn`. */
export function accessToken() {
  return token;
}

/** Leave for the sign-in page, and come back to where this page is now. */
export async function signIn(config) {
  const round = { state: random(), nonce: random(), verifier: random(), place: location.hash || "" };
  sessionStorage.setItem(ROUND, JSON.stringify(round));
  const address = new URL(config.authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: config.client_id,
    redirect_uri: config.redirect_uri,
    scope: config.scope,
    state: round.state,
    nonce: round.nonce,
    code_challenge: base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(round.verifier))),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  location.assign(address);
}

/** Take up what the sign-in page sent us back with; false when it sent nothing. */
export async function takeUp(config) {
  const sent = new URLSearchParams(location.search);
  const round = JSON.parse(sessionStorage.getItem(ROUND) ?? "null");
  sessionStorage.removeItem(ROUND);
  if (!sent.has("code") && !sent.has("error")) return false;
  history.replaceState(null, "", `/${round?.place ?? ""}`);
  if (round === null || sent.get("state") !== round.state) throw new SignInFailed("state");
  if (sent.has("error")) throw new SignInFailed(sent.get("error_description") ?? sent.get("error"));
  const answer = await fetch(config.token_endpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: sent.get("code"),
      client_id: config.client_id,
      redirect_uri: config.redirect_uri,
      code_verifier: round.verifier,
    }),
  });
  if (!answer.ok) throw new SignInFailed(`token: ${answer.status}`);
  const given = await answer.json();
  if (claims(given.id_token).nonce !== round.nonce) throw new SignInFailed("nonce");
  token = given.access_token;
  return true;
}

/** Forget the token, and have the issuer forget who this was. */
export function signOut(config) {
  token = null;
  if (config.end_session_endpoint === null) {
    location.assign(config.post_logout_redirect_uri);
    return;
  }
  const address = new URL(config.end_session_endpoint);
  address.searchParams.set("client_id", config.client_id);
  address.searchParams.set("post_logout_redirect_uri", config.post_logout_redirect_uri);
  address.searchParams.set("logout_uri", config.post_logout_redirect_uri); // Cognito's word for the same.
  location.assign(address);
}

// The token came from the issuer itself, so its claims need no check of its signature (OpenID Connect Core, 3.1.3.7).
function claims(idToken) {
  const [, payload] = idToken.split(".");
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes) {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
