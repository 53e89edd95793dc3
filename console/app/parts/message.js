/**
 * An entry of the conversation. Whatever it says was written by somebody else: it is shown as text and never read as
 * anything else.
 */

import { besides, receipt } from "../conversation.js";
import { h, icon } from "../dom.js";
import { download, nameOf } from "../files.js";
import { precisely, size, time } from "../format.js";
import { linked } from "../links.js";
import { explained, refusal } from "../said.js";
import { t } from "../texts.js";

/** @import { Entry, Part } from "../conversation.js" */
/** @import { Item } from "../outbox.js" */

/** What is longer is folded. */
const FOLDED = 2500;
const PLAIN = "text/plain";

/**
 * @param {Entry} entry
 * @param {{task: string, agent: string, hasEnded: boolean, reason: string | null}} about
 */
export function message(entry, { task, agent, hasEnded, reason }) {
  const mine = entry.type === "input";
  const at = entry.received_at ?? entry.committed_at ?? "";
  return h(
    "li",
    { class: `message is-${entry.type}${entry.error ? " is-denied" : ""}` },
    h("p", { class: "who" }, mine ? t("message.you") : agent, " ", instant(at)),
    h(
      "div",
      { class: "said" },
      parts(entry.message, (uri) => download(task, uri, at)),
    ),
    aside(entry),
    mine
      ? receiptLine(entry, hasEnded, reason)
      : entry.error && h("p", { class: "receipt is-refused" }, icon("alert"), t(`denied.${entry.error}`)),
  );
}

/** What was sent and not taken yet. @param {Item} item @param {{edit: () => void, discard: () => void, again: () => void}} acts */
export function sending(item, { edit, discard, again }) {
  const isHeld = item.state === "refused" || item.state === "old";
  const why = item.problem && refusal(item.problem);
  return h(
    "li",
    { class: `message is-input is-${item.state}` },
    h("p", { class: "who" }, t("message.you")),
    h("div", { class: "said" }, parts(item.body.message ?? [], null)),
    h(
      "p",
      { class: `receipt${isHeld ? " is-refused" : ""}`, role: isHeld ? "alert" : null },
      icon(isHeld ? "alert" : "clock"),
      t(`sending.${item.state}`),
    ),
    why &&
      h(
        "div",
        { class: "why" },
        h("p", null, why.title, why.detail && ` ${why.detail}`),
        why.places.length > 0 &&
          h(
            "ul",
            null,
            why.places.map(({ at, problem }) => h("li", null, h("code", null, at), " ", problem)),
          ),
      ),
    isHeld &&
      h(
        "div",
        { class: "buttons" },
        item.problem?.retry.retryable && h("button", { type: "button", onclick: again }, t("again")),
        h("button", { type: "button", onclick: edit }, t("sending.edit")),
        h("button", { type: "button", onclick: discard }, t("sending.discard")),
      ),
  );
}

/** @param {Entry} entry @param {boolean} hasEnded @param {string | null} reason */
function receiptLine(entry, hasEnded, reason) {
  const got = receipt(entry, hasEnded);
  const at = entry.committed_at && got === "seen" ? time(Date.parse(entry.committed_at)) : "";
  return h(
    "p",
    { class: `receipt is-${got}` },
    icon(/** @type {const} */ ({ seen: "checks", arrived: "check", refused: "alert", unseen: "close" })[got]),
    t(`receipt.${got}`, { time: at }),
    got === "refused" && reason && h("span", { class: "reason", dir: "auto" }, reason),
  );
}

/** @param {string} at */
const instant = (at) => h("time", { datetime: at, title: precisely(Date.parse(at)) }, time(Date.parse(at)));

/** @param {Part[]} message @param {((uri: string) => Promise<void>) | null} fetchFile */
function parts(message, fetchFile) {
  return message.map((part) => {
    if (part.file !== undefined) return file(part, fetchFile);
    return part.mimeType === PLAIN ? text(part.text ?? "") : typed(part);
  });
}

/** @param {string} said */
function text(said) {
  return folded(said, (shown) =>
    h(
      "p",
      { class: "text", dir: "auto" },
      linked(shown).map((piece) =>
        piece instanceof URL
          ? h("a", { href: piece.href, target: "_blank", rel: "noopener noreferrer nofollow" }, piece.href)
          : piece,
      ),
    ),
  );
}

/** A text of a type of its own, as it came. @param {Part} part */
const typed = (part) =>
  h(
    "div",
    { class: "file" },
    h("p", { class: "file-type" }, part.mimeType),
    folded(part.text ?? "", (shown) => h("pre", { tabindex: "0" }, shown)),
  );

/** @param {string} said @param {(shown: string) => Element} draw */
function folded(said, draw) {
  if (said.length <= FOLDED) return draw(said);
  const fold = h("div", { class: "folded" });
  const all = h(
    "button",
    { type: "button", class: "link", onclick: () => fold.replaceChildren(draw(said)) },
    t("message.all", { count: said.length }),
  );
  fold.append(draw(`${said.slice(0, FOLDED)}…`), all);
  return fold;
}

/** @param {Part} part @param {((uri: string) => Promise<void>) | null} fetchFile */
function file(part, fetchFile) {
  const uri = part.file ?? "";
  const said = h("p", { class: "field-error", role: "alert", hidden: true });
  async function get() {
    said.hidden = true;
    try {
      await fetchFile?.(uri);
    } catch (error) {
      const { title, detail } = explained(error);
      said.textContent = [title, detail].filter(Boolean).join(" ");
      said.hidden = false;
    }
  }
  return h(
    "div",
    { class: "file" },
    icon("file"),
    h(
      "div",
      { class: "file-name" },
      h("p", { dir: "auto" }, nameOf(uri)),
      h(
        "p",
        { class: "file-type" },
        [part.mimeType, part.sizeBytes !== undefined && size(part.sizeBytes)].filter(Boolean).join(" · "),
      ),
    ),
    fetchFile &&
      h(
        "button",
        { type: "button", "aria-label": t("file.get", { name: nameOf(uri) }), onclick: get },
        icon("down"),
        h("span", null, t("file.download")),
      ),
    said,
  );
}

/** Parameters that came beside the message, and what the agent exposes. @param {Entry} entry */
function aside(entry) {
  const pairs = besides(entry);
  return (
    pairs.length > 0 &&
    h(
      "dl",
      { class: "besides" },
      pairs.map(([name, value]) =>
        h(
          "div",
          null,
          h("dt", null, name),
          h("dd", { dir: "auto" }, typeof value === "string" ? value : JSON.stringify(value)),
        ),
      ),
    )
  );
}
