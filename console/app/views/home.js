/**
 * The first view: what waits for me, and below it my tasks by day.
 */

import { now } from "../clock.js";
import { fill, h, icon, keep } from "../dom.js";
import { dayOf, precisely, short, time } from "../format.js";
import { inbox } from "../inbox.js";
import { badge, empty, failure, heading } from "../parts/marks.js";
import { waitList } from "../parts/waits.js";
import { to } from "../router.js";
import { Tasks } from "../tasks.js";
import { t } from "../texts.js";
import { watch } from "../watch.js";

/** @import { Task } from "../said.js" */

const PHASES = ["idle", "processing", "terminal"];
const BUSY_S = 3;
const CALM_S = 10;
const MOST_WAITS = 3;

/** @param {HTMLElement} root @param {import("../router.js").Place} place @param {AbortSignal} signal */
export function show(root, place, signal) {
  const asked = new URLSearchParams(place.rest ?? "").get("phase");
  const phase = asked && PHASES.includes(asked) ? asked : null;
  const mine = new Tasks(phase);
  const days = h("div", { class: "days" });
  const below = h("div", { class: "below", "aria-live": "off" });
  fill(root, waiting(signal), h("div", { class: "title-row" }, heading(t("home.title")), filter(phase)), days, below);

  const follow = watch(
    async () => {
      await mine.refresh(signal);
      if (!mine.tasks?.length && mine.hasMore) await mine.older(signal);
      draw();
      return mine.tasks?.some(({ status }) => status.phase === "processing") ? BUSY_S : CALM_S;
    },
    {
      signal,
      onFailure: (error) => {
        if (!mine.tasks && error.problem) fill(below, failure(error));
      },
    },
  );

  inbox.addEventListener("change", () => follow.now(), { signal });

  function draw() {
    const tasks = mine.tasks ?? [];
    const dated = byDay(tasks);
    keep(days, dated, {
      key: ([day]) => day,
      mark: () => "",
      draw: ([day]) => h("section", { class: "day" }, h("h2", null, day), h("ul", { class: "tasks" })),
    });
    dated.forEach(([, held], place) => {
      const list = /** @type {Element} */ (days.children[place].lastElementChild);
      keep(list, held, { key: ({ id }) => id, mark: ({ status }) => status.revision, draw: row });
    });
    fill(below, mine.hasMore && older(), !tasks.length && !mine.hasMore && nothing(phase));
  }

  function older() {
    const button = h("button", { type: "button", class: "wide", onclick: more }, t("home.older"));
    return button;
    async function more() {
      button.disabled = true;
      button.textContent = t("home.reading");
      try {
        await mine.older(signal);
        draw();
      } catch (error) {
        if (signal.aborted) return;
        fill(below, failure(error, h("button", { type: "button", onclick: follow.now }, t("again"))));
      }
    }
  }
  return t("home.title");
}

/** @param {AbortSignal} signal */
function waiting(signal) {
  const section = h("section", { class: "waiting", "aria-labelledby": "waiting-title", hidden: true });
  const more = h("a", { class: "more", href: to.waiting });
  const draw = (/** @type {import("../waits.js").Wait[]} */ waits) => {
    section.hidden = waits.length === 0;
    more.hidden = waits.length <= MOST_WAITS;
    more.textContent = t("waits.all", { count: waits.length });
  };
  const list = waitList({ signal, under: "h3", most: MOST_WAITS, onChange: draw });
  fill(section, h("h2", { id: "waiting-title" }, t("waits.title")), list, more);
  return section;
}

/** @param {string | null} phase */
function filter(phase) {
  const choices = [null, ...PHASES];
  return h(
    "nav",
    { class: "filter", "aria-label": t("home.filter") },
    choices.map((choice) =>
      h(
        "a",
        { href: choice ? `${to.home}?phase=${choice}` : to.home, "aria-current": choice === phase ? "true" : null },
        t(`filter.${choice ?? "all"}`),
      ),
    ),
  );
}

/** @param {Task[]} tasks @returns {[string, Task[]][]} */
function byDay(tasks) {
  /** @type {Map<string, Task[]>} */
  const days = new Map();
  for (const task of tasks) {
    const day = dayOf(Date.parse(task.created_at), now());
    days.set(day, [...(days.get(day) ?? []), task]);
  }
  return [...days];
}

/** @param {Task} task */
function row(task) {
  const at = Date.parse(task.created_at);
  return h(
    "li",
    null,
    h(
      "a",
      { class: "task", href: to.task(task.id) },
      h("span", { class: "task-agent" }, task.agent),
      h("span", { class: "task-id" }, short(task.id)),
      h("span", { class: "task-calls" }, task.status.notifications.map(call)),
      badge(task),
      h("time", { datetime: task.created_at, title: precisely(at) }, time(at)),
    ),
  );
}

/** @param {{kind: string, provider?: string}} one */
const call = ({ kind, provider }) =>
  h(
    "span",
    { class: "chip" },
    icon(provider ? "key" : "review"),
    provider ? t("call.auth", { provider }) : t(`call.${kind}`),
  );

/** @param {string | null} phase */
function nothing(phase) {
  if (phase) return empty(t("home.none"), t(`home.none.${phase}`));
  return empty(
    t("home.first"),
    t("home.first.text"),
    h("a", { class: "button primary", href: to.create() }, icon("plus"), t("new.title")),
  );
}
