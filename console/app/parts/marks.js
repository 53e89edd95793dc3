/**
 * Small things that are the same everywhere: where a task stands, an instant, a note, an empty place.
 */

import { eachSecond, now } from "../clock.js";
import { h, icon } from "../dom.js";
import { precisely, relative } from "../format.js";
import { explained, standing } from "../said.js";
import { t } from "../texts.js";

/** @import { Child } from "../dom.js" */
/** @import { Task } from "../said.js" */

/** Where *task* stands: a dot and a word. @param {Task} task */
export function badge(task) {
  const stands = standing(task);
  return h(
    "span",
    { class: `badge is-${stands}` },
    h("span", { class: "dot", "aria-hidden": "true" }),
    t(`standing.${stands}`),
  );
}

/** How long ago *instant* was, kept true while it is shown. @param {string} instant @param {AbortSignal} signal */
export function since(instant, signal) {
  const ms = Date.parse(instant);
  const element = h("time", { datetime: instant, title: precisely(ms) });
  eachSecond(() => {
    const said = relative(ms, now());
    if (element.textContent !== said) element.textContent = said;
  }, signal);
  return element;
}

/**
 * Something to be told apart from the rest.
 * @param {"error" | "info" | "warning"} kind
 * @param {string} title
 * @param {...Child} more
 */
export function note(kind, title, ...more) {
  return h(
    "div",
    { class: `note is-${kind}`, role: kind === "error" ? "alert" : null },
    icon(kind === "info" ? "clock" : "alert"),
    h("div", { class: "note-body" }, h("p", { class: "note-title" }, title), more),
  );
}

/** What went wrong, with what can be done. @param {unknown} error @param {...Child} actions */
export function failure(error, ...actions) {
  const { title, detail, places } = explained(error);
  return note(
    "error",
    title,
    detail && h("p", null, detail),
    places.length > 0 &&
      h(
        "ul",
        null,
        places.map(({ at, problem }) => h("li", null, h("code", null, at), " ", problem)),
      ),
    actions.length > 0 && h("p", { class: "actions" }, actions),
  );
}

/** Nothing is here, and what to do about it. @param {string} title @param {string} text @param {...Child} actions */
export function empty(title, text, ...actions) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", null, text), actions);
}

/** The heading of a view, which takes the focus when the view is shown. @param {...Child} children */
export const heading = (...children) => h("h1", { tabindex: "-1" }, children);
