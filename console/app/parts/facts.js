/**
 * Beside the conversation: where the task stands in words, with its code, and what else is known of it.
 */

import { get } from "../api.js";
import { eachSecond, now } from "../clock.js";
import { fill, h } from "../dom.js";
import { countdown, precisely } from "../format.js";
import { meaning, worded } from "../said.js";
import { t } from "../texts.js";
import { since } from "./marks.js";

/** @import { Task } from "../said.js" */

/** @param {string} id @param {AbortSignal} signal */
export function facts(id, signal) {
  const said = h("p", { class: "standing-text" });
  const code = h("p", { class: "code" });
  const more = h("div", { class: "more-said" });
  const ends = h("dd", null);
  const endsRow = h("div", { class: "ends", hidden: true }, h("dt", null, t("facts.ends")), ends);
  const rows = h("dl", null);
  const element = h(
    "aside",
    { class: "facts", "aria-label": t("facts.label") },
    h(
      "details",
      { open: matchMedia("(min-width: 64rem)").matches },
      h("summary", null, t("facts.label")),
      h("section", null, said, code, more),
      h("dl", null, endsRow),
      rows,
    ),
  );
  /** @type {string | null} */
  let etag = null;
  /** @type {Task | null} */
  let task = null;

  eachSecond(() => {
    const at = task?.status.idle_expires_at;
    endsRow.hidden = !at;
    if (!at) return;
    const left = Date.parse(at) - now();
    ends.title = precisely(Date.parse(at));
    ends.textContent = countdown(left);
    endsRow.classList.toggle("is-soon", left < 60_000);
  }, signal);

  /** @param {Task} of @param {{code: number, name: string} | null} status @param {boolean} changed */
  function show(of, status, changed) {
    if (!task) {
      const created = Date.parse(of.created_at);
      fill(
        rows,
        row(t("facts.agent"), of.agent),
        row(t("facts.created"), h("span", { title: precisely(created) }, since(of.created_at, signal))),
        row(t("facts.id"), h("code", null, of.id)),
      );
    }
    task = of;
    if (status) {
      said.textContent = meaning(status.code);
      fill(code, h("code", null, `ASC-${status.code}`), " ", h("code", null, status.name));
    }
    if (changed || etag === null) read();
  }

  /** What the envelope says beyond its code, which is little for the public and more for developers. */
  async function read() {
    try {
      const answer = await get(`/v1/tasks/${encodeURIComponent(id)}/agent-status`, { etag, signal });
      if (answer.status === 304) return;
      etag = answer.headers.get("etag");
      const envelope = answer.body;
      said.textContent = meaning(envelope.status.code);
      fill(code, h("code", null, `ASC-${envelope.status.code}`), " ", h("code", null, envelope.status.name));
      fill(more, told(envelope));
    } catch {
      // The header of the next look says the code too.
    }
  }

  /** @param {any} envelope */
  function told(envelope) {
    const { message, remediation, conditions, retry } = envelope;
    return [
      message?.user && h("p", { dir: "auto" }, message.user),
      message?.developer && h("p", { class: "quiet", dir: "auto" }, message.developer),
      envelope.occurred_at && h("p", { class: "quiet" }, t("facts.since"), " ", since(envelope.occurred_at, signal)),
      remediation?.length > 0 &&
        h(
          "ul",
          { class: "ways" },
          remediation.map((/** @type {any} */ way) => h("li", null, worded("way", String(way.action)))),
        ),
      conditions?.length > 0 &&
        h(
          "ul",
          { class: "ways" },
          conditions.map((/** @type {any} */ one) =>
            h("li", null, meaning(one.status.code), " ", h("code", null, `ASC-${one.status.code}`)),
          ),
        ),
      retry?.strategy &&
        h("p", { class: "quiet" }, t("facts.retry", { strategy: worded("strategy", String(retry.strategy)) })),
    ];
  }

  return { element, show };
}

/** @param {string} name @param {any} value */
const row = (name, value) => h("div", null, h("dt", null, name), h("dd", null, value));
