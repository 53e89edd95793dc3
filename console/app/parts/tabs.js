/**
 * The two ways to look at a task.
 */

import { h } from "../dom.js";
import { to } from "../router.js";
import { t } from "../texts.js";

/** @param {string} id @param {"task" | "journal"} current */
export const tabs = (id, current) =>
  h(
    "nav",
    { class: "filter", "aria-label": t("tabs.label") },
    h("a", { href: to.task(id), "aria-current": current === "task" ? "true" : null }, t("tabs.conversation")),
    h("a", { href: to.journal(id), "aria-current": current === "journal" ? "true" : null }, t("tabs.journal")),
  );
