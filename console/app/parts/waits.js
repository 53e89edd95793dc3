/**
 * What waits for this person, as cards: a review is decided here, a sign-in is opened from here.
 */

import { post } from "../api.js";
import { config } from "../config.js";
import { h, icon, keep } from "../dom.js";
import { draft, keepDraft } from "../drafts.js";
import { Refused } from "../errors.js";
import { bytes, date, time } from "../format.js";
import { inbox } from "../inbox.js";
import { safeLink } from "../links.js";
import { announce } from "../live.js";
import { to } from "../router.js";
import { t } from "../texts.js";
import { failure, since } from "./marks.js";

/** @import { Review, Wait } from "../waits.js" */

const COMMENT_BYTES = 2048;

/**
 * A list that follows those of what waits that *picks* takes, the *most* oldest of them.
 * @param {{signal: AbortSignal, picks?: (wait: Wait) => boolean, most?: number, under?: string, inTask?: boolean, links?: () => URL[], onChange?: (waits: Wait[]) => void}} how
 */
export function waitList({
  signal,
  picks = () => true,
  most = Infinity,
  under = "h2",
  inTask = false,
  links = () => [],
  onChange,
}) {
  const list = h("ul", { class: "waits" });
  const draw = () => {
    const waits = (inbox.waits ?? []).filter(picks);
    keep(list, waits.slice(0, most), {
      key: (wait) => wait.key,
      mark: (wait) => (wait.kind === "sign-in" ? links().join(" ") : ""),
      draw: (wait) => h("li", null, card(wait, { signal, under, inTask, links: links() })),
    });
    onChange?.(waits);
  };
  inbox.listen(draw, signal);
  return Object.assign(list, { draw });
}

/** @param {Wait} wait @param {{signal: AbortSignal, under: string, inTask: boolean, links: URL[]}} how */
function card(wait, how) {
  if (wait.kind === "review") return review(wait, how);
  return wait.kind === "sign-in" ? signIn(wait, how) : look(wait, how);
}

/** @param {Wait} wait @param {{signal: AbortSignal, under: string, inTask: boolean}} how */
function review(wait, how) {
  const { id, subject, deadline } = /** @type {Review} */ (wait.review);
  const until = Date.parse(deadline);
  const name = `review.${id}`;
  const answer = h("div", { class: "card-answer" });
  const comment = h("textarea", {
    id: `comment-${id}`,
    rows: "1",
    placeholder: t("review.comment.hint"),
    oninput: () => keepDraft(name, comment.value || null),
  });
  comment.value = draft(name) ?? "";
  const buttons = [
    h(
      "button",
      { type: "button", class: "primary", onclick: () => decide("approve") },
      icon("check"),
      t("review.approve"),
    ),
    h("button", { type: "button", onclick: () => decide("deny") }, icon("close"), t("review.deny")),
  ];

  /** @param {"approve" | "deny"} decision */
  async function decide(decision) {
    const said = comment.value.trim();
    answer.replaceChildren();
    if (bytes(said) > COMMENT_BYTES) {
      answer.append(h("p", { class: "field-error", role: "alert" }, t("review.comment.long", { most: COMMENT_BYTES })));
      comment.focus();
      return;
    }
    for (const button of buttons) button.disabled = true;
    try {
      const body = said ? { decision, comment: said } : { decision };
      // The same decision said again is answered as it was.
      await post(`/v1/reviews/${encodeURIComponent(id)}`, body, { repeatable: true });
      keepDraft(name, null);
      announce(t(`review.done.${decision}`));
      const heading = /** @type {HTMLElement | null} */ (document.querySelector("h1"));
      inbox.settle(wait.key);
      heading?.focus({ preventScroll: true });
    } catch (error) {
      for (const button of buttons) button.disabled = false;
      answer.append(failure(error));
      if (error instanceof Refused && [404, 409].includes(error.problem.status)) inbox.look();
    }
  }

  return h(
    "article",
    { class: "card is-review", "aria-labelledby": `title-${id}` },
    top("review", h(how.under, { id: `title-${id}` }, t("review.title", { agent: wait.agent })), wait, how),
    h("p", { class: "subject", dir: "auto" }, subject),
    h("label", { for: `comment-${id}` }, t("review.comment")),
    comment,
    h(
      "div",
      { class: "card-foot" },
      h("div", { class: "buttons" }, buttons),
      h("p", { class: "quiet" }, t("review.until", { date: date(until), time: time(until) })),
    ),
    answer,
  );
}

/** @param {Wait} wait @param {{signal: AbortSignal, under: string, inTask: boolean, links: URL[]}} how */
function signIn(wait, how) {
  const { inTask, links } = how;
  const provider = wait.provider ?? "";
  const named = [config.providers?.[provider], provider].map(safeLink).find(Boolean);
  const open = named ? [named] : links;
  return h(
    "article",
    { class: "card is-sign-in" },
    top("key", h(how.under, null, t("auth.title", { provider })), wait, how),
    h("p", null, t("auth.why", { agent: wait.agent, provider })),
    open.length
      ? h(
          "div",
          { class: "buttons" },
          open.map((url) => opener(url, provider)),
        )
      : h("p", { class: "quiet" }, t(inTask ? "auth.elsewhere" : "auth.look", { agent: wait.agent })),
  );
}

/** @param {URL} url @param {string} provider */
const opener = (url, provider) =>
  h(
    "a",
    { class: "button primary", href: url.href, target: "_blank", rel: "noopener noreferrer" },
    icon("out"),
    h("span", null, t("auth.open", { provider })),
    h("span", { class: "host" }, t("auth.at", { host: url.host })),
  );

/** @param {Wait} wait @param {{signal: AbortSignal, under: string, inTask: boolean}} how */
function look(wait, how) {
  return h(
    "article",
    { class: "card" },
    top("review", h(how.under, null, t("review.title", { agent: wait.agent })), wait, how),
  );
}

/** @param {"review" | "key"} picture @param {Element} title @param {Wait} wait @param {{signal: AbortSignal, under: string, inTask: boolean}} how */
function top(picture, title, wait, { signal, inTask }) {
  const where = inTask
    ? null
    : wait.task
      ? h("a", { href: to.task(wait.task) }, t("waits.task"))
      : h("span", null, t("waits.others"));
  return h(
    "header",
    { class: "card-top" },
    icon(picture),
    title,
    h("p", { class: "quiet" }, since(wait.since, signal), where && [" · ", where]),
  );
}
