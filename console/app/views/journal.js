/**
 * The journal of one task, for those who may read it: its turns as bars, and each transition as a line of a table.
 */

import { get, pollAfter } from "../api.js";
import { now } from "../clock.js";
import { fill, h, keep } from "../dom.js";
import { Refused } from "../errors.js";
import { precisely, short, span as lasting, time } from "../format.js";
import { badge, empty, failure, heading } from "../parts/marks.js";
import { tabs } from "../parts/tabs.js";
import { worded } from "../said.js";
import { t } from "../texts.js";
import { lasted, turnsOf, width } from "../timeline.js";
import { watch } from "../watch.js";

/** @import { Entry, Span, Turn } from "../timeline.js" */

const PAGE = 100;
/** More lines than that help nobody who looks. */
const SHOWN = 500;

/** @param {HTMLElement} root @param {import("../router.js").Place} place @param {AbortSignal} signal */
export function show(root, place, signal) {
  const id = place.id ?? "";
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  /** @type {Entry[]} */
  const entries = [];
  /** @type {string | null} */
  let cursor = null;
  /** @type {string | null} */
  let etag = null;
  const name = h("span", { class: "agent-name" });
  const where = h("span", { class: "where" });
  const rows = h("ol", { class: "turns" });
  const lines = h("tbody", null);
  const body = h(
    "div",
    { class: "journal", hidden: true },
    h(
      "section",
      { "aria-labelledby": "turns-title" },
      h("h2", { id: "turns-title" }, t("journal.turns")),
      rows,
      h("p", { class: "hint" }, t("journal.scale")),
    ),
    h(
      "div",
      { class: "lines" },
      h("h2", { id: "lines-title" }, t("journal.lines")),
      h(
        "div",
        { class: "scrolls", tabindex: "0", role: "region", "aria-labelledby": "lines-title" },
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["n", "at", "what", "code", "turn", "attempt", "actor"].map((column) =>
                h("th", { scope: "col" }, t(`journal.${column}`)),
              ),
            ),
          ),
          lines,
        ),
      ),
    ),
  );
  const loading = h("p", { class: "loading" }, t("journal.reading"));
  const title = h(
    "div",
    { class: "title-row" },
    heading(h("span", { class: "aside" }, t("journal.of"), " "), name, h("span", { class: "task-id" }, short(id))),
    where,
    tabs(id, "journal"),
  );
  fill(root, title, loading, body);

  watch(
    async () => {
      const answer = await get(path, { etag, signal });
      await read();
      if (answer.body) {
        name.textContent = answer.body.agent;
        fill(where, badge(answer.body));
        etag = answer.headers.get("etag");
      }
      draw();
      return pollAfter(answer);
    },
    { signal, onFailure: failed },
  );

  async function read() {
    for (let more = true; more;) {
      const query = new URLSearchParams({ limit: String(PAGE), ...(cursor ? { after: cursor } : {}) });
      const page = (await get(`${path}/journal?${query}`, { signal })).body;
      entries.push(...page.entries);
      more = page.more && page.next !== cursor;
      cursor = page.next;
    }
  }

  function draw() {
    loading.remove();
    body.hidden = false;
    const turns = turnsOf(entries, now());
    const longest = Math.max(...turns.map(total));
    keep(rows, turns, {
      key: ({ number }) => String(number),
      mark: (turn) => JSON.stringify([turn, longest]),
      draw: (turn) => row(turn, total(turn) / longest),
    });
    keep(lines, entries.slice(-SHOWN).reverse(), { key: ({ n }) => String(n), mark: () => "", draw: line });
  }

  /** @param {any} error */
  function failed(error) {
    if (!(error instanceof Refused) || ![403, 404].includes(error.problem.status)) {
      if (error instanceof Refused) fill(loading, failure(error));
      return false;
    }
    loading.remove();
    fill(body, empty(t("journal.not"), t("journal.not.text")));
    body.hidden = false;
    return true;
  }
  return t("journal.title", { id: short(id) });
}

/** How wide all of *turn* is drawn. @param {Turn} turn */
const total = ({ spans }) => spans.reduce((sum, one) => sum + width(one), 0);

/** @param {Turn} turn @param {number} share of the row's width */
function row(turn, share) {
  return h(
    "li",
    { class: "turn" },
    h(
      "p",
      { class: "turn-name" },
      h("span", null, t("journal.number", { number: turn.number })),
      h("span", { class: "quiet" }, time(turn.spans[0].from), " · ", lasting(lasted(turn))),
    ),
    h("ol", { class: "spans", vars: { "--share": `${100 * share}%` } }, turn.spans.map(bar)),
  );
}

/** @param {Span} span */
function bar(span) {
  const named = span.attempt === null ? t(`journal.${span.kind}`) : t("journal.runs", { attempt: span.attempt });
  const how = span.end === null ? t("journal.goes-on") : worded("transition", span.end);
  const said = span.outputs ? t("journal.outputs", { count: span.outputs }) : "";
  return h(
    "li",
    {
      class: `span is-${span.kind} ends-${span.end ?? "open"}`,
      vars: { "--width": width(span) },
      title: [named, lasting(span.to - span.from), said, how].filter(Boolean).join(" · "),
    },
    h("span", { class: "span-name" }, named),
    h("span", { class: "span-time" }, lasting(span.to - span.from)),
    h("span", { class: "aside" }, [said, how].filter(Boolean).join(", ")),
  );
}

/** @param {Entry} entry */
function line(entry) {
  const at = Date.parse(entry.at);
  return h(
    "tr",
    null,
    h("td", { class: "number" }, entry.n),
    h(
      "td",
      null,
      h(
        "time",
        { datetime: entry.at, title: precisely(at) },
        time(at),
        h("span", { class: "quiet" }, `:${entry.at.slice(17, 23)}`),
      ),
    ),
    h("th", { scope: "row" }, worded("transition", entry.transition)),
    h("td", null, entry.code !== null && h("code", null, `ASC-${entry.code}`)),
    h("td", { class: "number" }, entry.turn ?? ""),
    h("td", { class: "number" }, entry.attempt ?? ""),
    h("td", { class: "actor" }, entry.actor),
  );
}
