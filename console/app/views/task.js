/**
 * One task: its conversation as it goes on, what it waits for, and a place to say more, also while it is busy.
 */

import { agent as agentOf } from "../agents.js";
import { get, pollAfter } from "../api.js";
import { Conversation, keyOf, reasonOf, receipt, textOf } from "../conversation.js";
import { fill, h, icon, keep } from "../dom.js";
import { Refused } from "../errors.js";
import { short } from "../format.js";
import { inbox } from "../inbox.js";
import { linked } from "../links.js";
import { announce } from "../live.js";
import { outboxOf } from "../outbox.js";
import { composer } from "../parts/composer.js";
import { facts } from "../parts/facts.js";
import { badge, empty, failure, heading } from "../parts/marks.js";
import { message, sending } from "../parts/message.js";
import { tabs } from "../parts/tabs.js";
import { waitList } from "../parts/waits.js";
import { to } from "../router.js";
import { agentStatusOf, standing } from "../said.js";
import { t } from "../texts.js";
import { watch } from "../watch.js";

/** @import { Task } from "../said.js" */

/** So many entries are on the screen until somebody asks for earlier ones. */
const SHOWN = 100;
/** Nearer to the end than this (px), what is new scrolls into view. */
const AT_THE_END = 160;
const ANNOUNCED = 200;

/** @param {HTMLElement} root @param {import("../router.js").Place} place @param {AbortSignal} signal */
export function show(root, place, signal) {
  const id = place.id ?? "";
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const conversation = new Conversation();
  /** @type {Task | null} */
  let task = null;
  /** @type {string | null} */
  let etag = null;
  /** @type {string | null} */
  let cursor = null;
  /** What is drawn, the entries of the last page first asked for: nothing is announced before. */
  let isFollowing = false;
  let most = SHOWN;

  const name = h("span", { class: "agent-name" });
  const where = h("span", { class: "where" });
  const list = h("ol", { class: "messages", "aria-label": t("task.conversation") });
  const earlier = h(
    "button",
    { type: "button", class: "link earlier", hidden: true, onclick: showEarlier },
    t("task.earlier"),
  );
  const newer = h(
    "button",
    { type: "button", class: "newer", hidden: true, onclick: toTheEnd },
    icon("down"),
    t("task.newer"),
  );
  const busy = h(
    "p",
    { class: "busy", hidden: true },
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("span", null),
  );
  const end = h("div", { class: "end" });
  const trouble = h("div", null);
  const told = facts(id, signal);
  const write = composer(id, { send: (body) => outbox.add(body), signal });
  const waits = waitList({ signal, inTask: true, picks: (wait) => wait.task === id, links: saidLinks });
  const outbox = outboxOf(id);
  outbox.addEventListener("change", drawMessages, { signal });
  outbox.addEventListener("sent", (event) => sent(/** @type {CustomEvent} */ (event).detail), { signal });
  const body = h(
    "div",
    { class: "conversation" },
    earlier,
    list,
    busy,
    waits,
    trouble,
    h("div", { class: "dock" }, newer, end),
  );
  const loading = h("p", { class: "loading" }, t("task.reading"));
  fill(
    root,
    h(
      "div",
      { class: "title-row" },
      heading(h("span", { class: "aside" }, t("task.with"), " "), name, h("span", { class: "task-id" }, short(id))),
      where,
      tabs(id, "task"),
    ),
    h("div", { class: "columns" }, h("div", null, loading, body), told.element),
  );
  body.hidden = true;
  drawMessages();

  const follow = watch(look, { signal, onFailure: failed });
  scrollListener();

  async function look() {
    const answer = await get(path, { etag, signal });
    const changed = answer.status !== 304;
    if (changed) {
      await read();
      etag = answer.headers.get("etag");
      became(answer.body);
    }
    told.show(/** @type {Task} */ (task), agentStatusOf(answer.headers.get("agent-status")), changed);
    return pollAfter(answer);
  }

  /** Read what is new of the conversation, after where it was read last. */
  async function read() {
    const fresh = [];
    for (let more = true; more;) {
      const query = cursor ? `?${new URLSearchParams({ after: cursor })}` : "";
      const page = (await get(`${path}/messages${query}`, { signal })).body;
      if (conversation.add(page.messages)) fresh.push(...page.messages);
      more = page.more && page.next !== cursor;
      cursor = page.next;
    }
    if (isFollowing) for (const entry of fresh) tell(entry);
  }

  /** @param {Task} now */
  function became(now) {
    const before = task;
    task = now;
    if (!before) {
      name.textContent = now.agent;
      loading.remove();
      body.hidden = false;
      drawEnd(now);
      if (now.status.phase !== "terminal") wants(now.agent);
    } else if (standing(before) !== standing(now)) {
      announce(t("task.became", { standing: t(`standing.${standing(now)}`) }));
      if (now.status.phase === "terminal") drawEnd(now);
    }
    if (JSON.stringify(before?.status.notifications) !== JSON.stringify(now.status.notifications)) inbox.look();
    fill(where, badge(now));
    busy.hidden = now.status.phase !== "processing" || now.status.notifications.length > 0;
    /** @type {HTMLElement} */ (busy.lastElementChild).textContent = t("task.busy", { agent: now.agent });
    drawMessages();
    waits.draw();
    if (!isFollowing) toTheEnd();
    isFollowing = true;
  }

  /** @param {string} agent */
  async function wants(agent) {
    try {
      const known = await agentOf(agent, signal);
      if (known) write.wants(known);
    } catch {
      // The form stays a plain one; what is missing is refused at its place.
    }
  }

  /** @param {Task} now */
  function drawEnd(now) {
    if (now.status.phase !== "terminal") {
      fill(end, write.element);
      return;
    }
    fill(
      end,
      h(
        "div",
        { class: "ended" },
        h("p", null, t(`ended.${now.status.terminal_reason}`)),
        h("a", { class: "button", href: to.create(now.agent) }, icon("plus"), t("ended.new", { agent: now.agent })),
      ),
    );
  }

  function drawMessages() {
    if (signal.aborted) return;
    const wasAtTheEnd = isAtTheEnd();
    const entries = conversation.entries;
    const hasEnded = task?.status.phase === "terminal";
    const shown = entries.slice(-most);
    earlier.hidden = shown.length === entries.length;
    const lines = [
      ...shown.map((entry) => ({
        key: keyOf(entry),
        mark: `${receipt(entry, hasEnded)}${entry.committed_at}${reasonOf(entry, entries) ?? ""}`,
        draw: () => message(entry, { task: id, agent: task?.agent ?? "", hasEnded, reason: reasonOf(entry, entries) }),
      })),
      ...outbox.items.map((item) => ({
        key: item.key,
        mark: item.state,
        draw: () =>
          sending(item, {
            edit: () => edit(item),
            discard: () => outbox.remove(item),
            again: () => outbox.again(item),
          }),
      })),
    ];
    const before = list.childElementCount;
    keep(list, lines, { key: (line) => line.key, mark: (line) => line.mark, draw: (line) => line.draw() });
    if (list.childElementCount === before) return;
    if (wasAtTheEnd) toTheEnd();
    else newer.hidden = !isFollowing;
  }

  /** The server took an input: it has arrived. @param {import("../conversation.js").Entry} entry */
  function sent(entry) {
    conversation.add([entry]);
    announce(t("receipt.arrived.aloud"));
    follow.now();
  }

  /** @param {import("../outbox.js").Item} item */
  function edit(item) {
    if (!write.takeBack(item.body)) return;
    outbox.remove(item);
    write.say(item.problem?.places ?? []);
    write.focus();
  }

  /** @param {import("../conversation.js").Entry} entry */
  function tell(entry) {
    if (entry.type === "output")
      announce(t("message.says", { agent: task?.agent ?? "", text: textOf(entry).slice(0, ANNOUNCED) }));
    else if (entry.committed_at && !entry.error) announce(t("receipt.seen.aloud"));
  }

  /** @param {any} error */
  function failed(error) {
    if (!(error instanceof Refused)) return false;
    const isGone = error.problem.status === 404;
    if (isGone) {
      fill(
        root,
        heading(t("task.none")),
        empty(t("task.none.title"), t("task.none.text"), h("a", { class: "button", href: to.home }, t("missing.home"))),
      );
      document.title = `${t("task.none")} · Turnkeeper`;
    } else if (!task) {
      fill(trouble, failure(error));
    }
    return isGone;
  }

  /** Addresses that the agent said since the last input: where it wants its user to sign in. */
  function saidLinks() {
    const entries = conversation.entries;
    const last = entries.findLastIndex((entry) => entry.type === "input" && entry.committed_at);
    return entries
      .slice(last + 1)
      .filter((entry) => entry.type === "output")
      .flatMap((entry) => linked(textOf(entry)))
      .filter((piece) => piece instanceof URL);
  }

  function showEarlier() {
    const height = document.documentElement.scrollHeight;
    most += SHOWN;
    drawMessages();
    scrollBy(0, document.documentElement.scrollHeight - height);
  }

  function scrollListener() {
    addEventListener("scroll", () => (newer.hidden ||= isAtTheEnd()), { signal, passive: true });
  }

  function toTheEnd() {
    newer.hidden = true;
    scrollTo(0, document.documentElement.scrollHeight);
  }

  return t("task.title", { id: short(id) });
}

const isAtTheEnd = () => document.documentElement.scrollHeight - innerHeight - scrollY < AT_THE_END;
