/**
 * Where the page begins: its words, and who is signed in; who is not is sent to sign in.
 */

import { loadConfig } from "./config.js";
import { fill, h } from "./dom.js";
import { failure } from "./parts/marks.js";
import { comeBack, isSignedIn, signIn, SignInFailed } from "./session.js";
import { loadTexts, t } from "./texts.js";
import * as welcome from "./views/welcome.js";

const SIGNED_OUT = "/signed-out";
const root = /** @type {HTMLElement} */ (document.getElementById("main"));

/** @param {Parameters<typeof welcome.show>[1]} why */
function enter(why) {
  document.body.dataset.who = "nobody";
  document.title = `${welcome.show(root, why)} · Turnkeeper`;
}

async function start() {
  await Promise.all([loadTexts(), loadConfig()]);
  const skip = /** @type {HTMLElement} */ (document.getElementById("skip"));
  skip.textContent = t("skip");
  skip.onclick = (event) => {
    event.preventDefault();
    root.focus();
  };
  const signedOut = location.pathname === SIGNED_OUT;
  await comeBack();
  if (isSignedIn()) (await import("./shell.js")).begin();
  else if (signedOut) enter({ signedOut });
  else await signIn();
}

try {
  await start();
} catch (error) {
  if (error instanceof SignInFailed) enter({ failed: error.message });
  else fill(root, failure(error, h("button", { type: "button", onclick: () => location.reload() }, t("again"))));
}
