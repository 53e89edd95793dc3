/**
 * Everything that waits for me, over all tasks.
 */

import { fill, h } from "../dom.js";
import { inbox } from "../inbox.js";
import { empty, heading } from "../parts/marks.js";
import { waitList } from "../parts/waits.js";
import { t } from "../texts.js";

/** @param {HTMLElement} root @param {import("../router.js").Place} _ @param {AbortSignal} signal */
export function show(root, _, signal) {
  inbox.look();
  const nothing = h("div", null);
  const list = waitList({
    signal,
    onChange: (waits) => fill(nothing, !waits.length && empty(t("waits.none"), t("waits.none.text"))),
  });
  fill(root, h("div", { class: "title-row" }, heading(t("waits.title"))), list, nothing);
  return t("waits.title");
}
