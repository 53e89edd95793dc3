/**
 * For who has signed out, or was not let in: what this is, and the way in.
 */

import { fill, h } from "../dom.js";
import { heading, note } from "../parts/marks.js";
import { signIn } from "../session.js";
import { t } from "../texts.js";

/** @param {HTMLElement} root @param {{failed?: string | null, signedOut?: boolean}} [why] */
export function show(root, { failed = null, signedOut = false } = {}) {
  const enter = h("button", { type: "button", class: "primary large", onclick: signIn }, t("welcome.enter"));
  fill(
    root,
    h(
      "div",
      { class: "welcome" },
      h("img", { src: "/icon.svg", alt: "", width: "48", height: "48" }),
      heading(t("welcome.title")),
      h("p", { class: "lead" }, t("welcome.text")),
      failed !== null && note("error", t("welcome.failed"), h("p", null, t("welcome.failed.text", { why: failed }))),
      signedOut && note("info", t("welcome.out")),
      enter,
    ),
  );
  return t("welcome.enter");
}
