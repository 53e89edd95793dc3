/**
 * An address that leads nowhere.
 */

import { fill, h } from "../dom.js";
import { empty, heading } from "../parts/marks.js";
import { to } from "../router.js";
import { t } from "../texts.js";

/** @param {HTMLElement} root */
export function show(root) {
  fill(
    root,
    heading(t("missing.title")),
    empty(t("missing.nothing"), t("missing.text"), h("a", { class: "button", href: to.home }, t("missing.home"))),
  );
  return t("missing.title");
}
