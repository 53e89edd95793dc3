/**
 * What stands around every view of who is signed in, and which view is shown in it.
 */

import { eachSecond } from "./clock.js";
import { fill, h, icon } from "./dom.js";
import { inbox } from "./inbox.js";
import { announce } from "./live.js";
import { resume } from "./outbox.js";
import { failure, note } from "./parts/marks.js";
import { keepPlace, returnToPlace } from "./place.js";
import { placeOf, to } from "./router.js";
import { server } from "./server.js";
import { onLeaving, person, signOut } from "./session.js";
import { t } from "./texts.js";
import * as home from "./views/home.js";

/** What is not needed for the first view comes when it is. @type {Record<string, () => Promise<{show: Function}>>} */
const VIEWS = {
  home: async () => home,
  waiting: () => import("./views/waiting.js"),
  new: () => import("./views/new.js"),
  task: () => import("./views/task.js"),
  journal: () => import("./views/journal.js"),
  missing: () => import("./views/missing.js"),
};

const root = element("main");
let leave = new AbortController();
let away = new AbortController();
let title = "";

/** Show who is signed in, and the view that the address names; until they sign out. */
export function begin() {
  document.body.dataset.who = "somebody";
  const stay = new AbortController();
  frame(stay);
  inbox.follow(stay.signal);
  inbox.listen(count, stay.signal);
  onLeaving(keepPlace);
  resume();
  addEventListener("hashchange", () => visit(true), { signal: stay.signal });
  visit(false).then(returnToPlace);
}

/** Show the view that the address names. @param {boolean} moves it was another before */
async function visit(moves) {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const place = placeOf(location.hash);
  for (const link of document.querySelectorAll("#nav a")) {
    if (/** @type {HTMLElement} */ (link).dataset.view === place.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    const view = await VIEWS[place.view]();
    if (signal.aborted) return;
    root.className = `view-${place.view}`;
    titled(view.show(root, place, signal));
  } catch (error) {
    if (signal.aborted) return;
    fill(root, failure(error, h("button", { type: "button", onclick: () => visit(true) }, t("again"))));
  }
  if (!moves) return;
  scrollTo(0, 0);
  root.querySelector("h1")?.focus({ preventScroll: true });
}

/** @param {string} now */
function titled(now) {
  title = now;
  count();
}

/** How much waits stands at its link and in the title of the tab. */
function count() {
  const waits = inbox.waits?.length ?? 0;
  document.title = `${waits ? `(${waits}) ` : ""}${title ? `${title} · ` : ""}Turnkeeper`;
  const shown = document.getElementById("count");
  if (!shown) return;
  shown.hidden = waits === 0;
  fill(shown, String(waits), h("span", { class: "aside" }, t("waits.count", { count: waits })));
}

/** @param {AbortController} stay */
function frame(stay) {
  fill(
    element("nav"),
    h(
      "a",
      { class: "button primary", href: to.create(), "data-view": "new" },
      icon("plus"),
      h("span", null, t("new.title")),
    ),
    h(
      "a",
      { href: to.waiting, "data-view": "waiting" },
      icon("inbox"),
      h("span", null, t("nav.waiting")),
      h("span", { id: "count", class: "count", hidden: true }),
    ),
    h("a", { href: to.home, "data-view": "home" }, icon("list"), h("span", null, t("nav.tasks"))),
  );
  element("nav").setAttribute("aria-label", t("nav.label"));
  fill(
    element("account"),
    h("span", { class: "person" }, person()),
    h("button", { type: "button", class: "quiet-button", onclick: leaveForGood }, t("nav.out")),
  );
  function leaveForGood() {
    stay.abort();
    leave.abort();
    fill(root);
    document.body.dataset.who = "nobody";
    signOut();
  }
  server.addEventListener(
    "change",
    () => {
      document.body.toggleAttribute("data-away", server.isAway);
      away.abort();
      away = new AbortController();
      fill(element("away"), server.isAway && absence(away.signal));
      announce(t(server.isAway ? "away.title" : "away.back"));
    },
    { signal: stay.signal },
  );
}

/** @param {AbortSignal} signal */
function absence(signal) {
  const when = h("span", null);
  eachSecond(() => {
    const seconds = Math.max(0, Math.ceil((server.nextTry - Date.now()) / 1000));
    when.textContent = seconds ? t("away.next", { count: seconds }) : t("away.now");
  }, signal);
  return note(
    "warning",
    t("away.title"),
    h(
      "p",
      null,
      t("away.kept"),
      " ",
      when,
      " ",
      h("button", { type: "button", class: "link", onclick: () => server.tryNow() }, t("away.try")),
    ),
  );
}

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
