/**
 * A new task: choose an agent, say what it is about, and give it what it wants to be told.
 */

import { agent as agentOf, agents } from "../agents.js";
import { post } from "../api.js";
import { fill, h } from "../dom.js";
import { draft, keepDraft } from "../drafts.js";
import { Refused } from "../errors.js";
import { bytes, size } from "../format.js";
import { fieldAt } from "../parameters.js";
import { fields } from "../parts/fields.js";
import { empty, failure, heading } from "../parts/marks.js";
import { to } from "../router.js";
import { t } from "../texts.js";

/** @import { Named } from "../agents.js" */

const TEXT_BYTES = 100_000;

/** @param {HTMLElement} root @param {import("../router.js").Place} place @param {AbortSignal} signal */
export function show(root, place, signal) {
  const body = h("div", null, h("p", { class: "loading" }, t("new.reading")));
  fill(
    root,
    h("div", { class: "title-row" }, heading(place.id ? t("new.with", { agent: place.id }) : t("new.title"))),
    body,
  );
  draw();
  return t("new.title");

  async function draw() {
    try {
      if (place.id) await form(body, place.id, signal);
      else choices(body, await agents(signal));
    } catch (error) {
      if (signal.aborted) return;
      fill(body, failure(error, h("button", { type: "button", onclick: draw }, t("again"))));
    }
  }
}

/** @param {HTMLElement} body @param {Named[]} found */
function choices(body, found) {
  fill(
    body,
    h("p", { class: "lead" }, t("new.choose")),
    found.length
      ? h(
          "ul",
          { class: "agents" },
          found.map((one) =>
            h(
              "li",
              null,
              h(
                "a",
                { class: "agent", href: to.create(one.name) },
                h("span", { class: "task-agent" }, one.name),
                h("span", { class: "quiet", dir: "auto" }, one.description),
              ),
            ),
          ),
        )
      : empty(t("new.none"), t("new.none.text")),
  );
}

/** @param {HTMLElement} body @param {string} name @param {AbortSignal} signal */
async function form(body, name, signal) {
  const agent = await agentOf(name, signal);
  if (!agent) {
    fill(
      body,
      empty(
        t("new.unknown"),
        t("new.unknown.text", { agent: name }),
        h("a", { class: "button", href: to.create() }, t("new.others")),
      ),
    );
    return;
  }
  const needsMessage = agent.default_message === null;
  const kept = draft(`new.${name}`) ?? {};
  const wanted = fields(agent.parameters, kept.typed ?? {}, keep);
  const text = h("textarea", {
    id: "first",
    rows: "5",
    placeholder: t("new.message.hint"),
    "aria-describedby": "first-error",
    oninput: keep,
  });
  text.value = kept.text ?? "";
  const error = h("p", { class: "field-error", id: "first-error", hidden: true });
  const answer = h("div", null);
  const start = h("button", { type: "submit", class: "primary" }, t("new.start"));
  const openEmpty = h("button", { type: "button", onclick: () => create({ agent: name }) }, t("new.empty"));
  fill(
    body,
    h("p", { class: "lead", dir: "auto" }, agent.description),
    h(
      "form",
      { class: "sheet", onsubmit: submitted, novalidate: true },
      wanted.element,
      h("div", { class: "field" }, h("label", { for: "first" }, t("new.message")), text, error),
      answer,
      h(
        "div",
        { class: "buttons" },
        start,
        openEmpty,
        h("a", { class: "button link", href: to.create() }, t("new.others")),
      ),
      h("p", { class: "hint" }, t("new.empty.hint")),
    ),
  );

  function keep() {
    const now = { text: text.value, typed: wanted.typed() };
    keepDraft(`new.${name}`, now);
    say("");
  }

  /** @param {string} problem */
  function say(problem) {
    error.textContent = problem;
    error.hidden = !problem;
    if (problem) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
  }

  /** @param {Event} event */
  function submitted(event) {
    event.preventDefault();
    const values = wanted.values();
    if (!values) return;
    const isBlank = !text.value.trim();
    if ((isBlank && needsMessage) || bytes(text.value) > TEXT_BYTES) {
      say(isBlank ? t("new.message.empty") : t("say.long", { most: size(TEXT_BYTES) }));
      text.focus();
      return;
    }
    const message = isBlank ? {} : { message: [{ mimeType: "text/plain", text: text.value }] };
    create({ agent: name, input: { ...values, ...message } });
  }

  /** @param {any} task */
  async function create(task) {
    for (const button of [start, openEmpty]) button.disabled = true;
    answer.replaceChildren();
    try {
      const made = await post("/v1/tasks", task, { key: keyFor(name, task), signal });
      keepDraft(`new.${name}`, null);
      keepDraft(`key.${name}`, null);
      location.replace(to.task(made.body.id));
    } catch (problem) {
      if (signal.aborted) return;
      for (const button of [start, openEmpty]) button.disabled = false;
      const elsewhere = problem instanceof Refused ? problem.problem.places.filter((place) => !said(place)) : [];
      fill(
        answer,
        (!(problem instanceof Refused) || !problem.problem.places.length || elsewhere.length > 0) && failure(problem),
      );
      /** @type {HTMLElement | null} */ (body.querySelector("[aria-invalid=true]"))?.focus();
    }
  }

  /** Say a problem at its field. @param {import("../problem.js").Place} place */
  function said({ at, problem }) {
    const field = fieldAt(at);
    if (field !== "message") return wanted.say(field, problem);
    say(problem);
    return true;
  }
}

/**
 * The key under which *task* is made: the same for the same task, until it is made. A lost answer, a reload, a second
 * press: it is made once.
 * @param {string} name
 * @param {any} task
 */
function keyFor(name, task) {
  const asked = JSON.stringify(task);
  const kept = draft(`key.${name}`);
  if (kept?.asked === asked) return kept.key;
  const key = crypto.randomUUID();
  keepDraft(`key.${name}`, { asked, key });
  return key;
}
