/**
 * Where something is written to a task: its text, its files, its agent's parameters. Nothing written is lost by a
 * reload, a new sign-in or a server that is away.
 */

import { fill, h, icon } from "../dom.js";
import { draft, keepDraft } from "../drafts.js";
import { nameOf, upload } from "../files.js";
import { bytes, size } from "../format.js";
import { announce } from "../live.js";
import { fieldAt } from "../parameters.js";
import { explained } from "../said.js";
import { t } from "../texts.js";
import { fields } from "./fields.js";

/** @import { Part } from "../conversation.js" */
/** @import { Place } from "../problem.js" */
/** @import { Agent } from "../agents.js" */

const TEXT_BYTES = 100_000;
const INPUT_BYTES = 262_144;
const MOST_PARTS = 64;

/**
 * @typedef {object} Composer
 * @property {HTMLElement} element
 * @property {(agent: Agent) => void} wants what the agent wants beside a message
 * @property {(body: any) => boolean} takeBack put something sent back; false when something else is being written
 * @property {(places: Place[]) => void} say what is wrong, where it is
 * @property {() => void} focus
 */

/**
 * @param {string} task
 * @param {{send: (body: any) => void, signal: AbortSignal}} how
 * @returns {Composer}
 */
export function composer(task, { send, signal }) {
  const name = `task.${task}`;
  const kept = draft(name) ?? {};
  /** @type {Part[]} */
  let attached = kept.attached ?? [];
  let uploading = 0;
  let needsMessage = true;
  let form = fields(undefined, {}, keep);

  const text = h("textarea", {
    id: "say",
    rows: "1",
    "aria-label": t("say.label"),
    "aria-describedby": "say-error",
    placeholder: t("say.hint"),
    oninput: keep,
    onkeydown: key,
    onpaste: pasted,
  });
  text.value = kept.text ?? "";
  const error = h("p", { class: "field-error", id: "say-error", role: "alert", hidden: true });
  const files = h("ul", { class: "attached", "aria-label": t("say.files") });
  const picker = h("input", {
    type: "file",
    multiple: true,
    class: "aside",
    tabindex: "-1",
    "aria-hidden": "true",
    onchange: picked,
  });
  const clip = h(
    "button",
    {
      type: "button",
      class: "quiet-button",
      "aria-label": t("say.attach"),
      title: t("say.attach"),
      onclick: () => picker.click(),
    },
    icon("clip"),
  );
  const go = h(
    "button",
    { type: "submit", class: "primary round", "aria-label": t("say.send"), title: t("say.send") },
    icon("arrow"),
  );
  const above = h("div", { class: "parameters" });
  const element = h(
    "form",
    { class: "composer", onsubmit: submitted, ondragover: dragged, ondrop: dropped, novalidate: true },
    above,
    files,
    h("div", { class: "say" }, clip, picker, text, go),
    error,
    h("p", { class: "keys" }, t("say.keys")),
  );
  draw();

  function keep() {
    const now = { text: text.value, attached, typed: form.typed() };
    keepDraft(name, now.text || attached.length || Object.values(now.typed).some(Boolean) ? now : null);
    say("");
  }

  /** @param {string} problem */
  function say(problem) {
    error.textContent = problem;
    error.hidden = !problem;
    text.toggleAttribute("aria-invalid", false);
    if (problem) text.setAttribute("aria-invalid", "true");
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const isFinePointer = matchMedia("(pointer: fine)").matches;
    const sends =
      event.key === "Enter" &&
      !event.isComposing &&
      !event.shiftKey &&
      (isFinePointer || event.ctrlKey || event.metaKey);
    if (!sends) return;
    event.preventDefault();
    element.requestSubmit();
  }

  /** @param {Event} event */
  function submitted(event) {
    event.preventDefault();
    if (uploading) return say(t("say.uploading"));
    const said = text.value;
    if (needsMessage && !said.trim() && !attached.length) {
      say(t("say.empty"));
      text.focus();
      return;
    }
    const values = form.values();
    if (!values) return;
    const message = [...(said.trim() ? [{ mimeType: "text/plain", text: said }] : []), ...attached];
    const body = message.length ? { ...values, message } : values;
    const problem = tooLarge(said, message, body);
    if (problem) {
      say(problem);
      text.focus();
      return;
    }
    text.value = "";
    attached = [];
    draw();
    keep();
    send(body);
    text.focus();
  }

  function draw() {
    files.hidden = attached.length === 0;
    fill(
      files,
      attached.map((part) =>
        h(
          "li",
          null,
          icon("file"),
          h("span", { dir: "auto" }, nameOf(part.file ?? "")),
          h("span", { class: "quiet" }, size(part.sizeBytes ?? 0)),
          h(
            "button",
            {
              type: "button",
              class: "quiet-button",
              "aria-label": t("say.remove", { name: nameOf(part.file ?? "") }),
              onclick: () => remove(part),
            },
            icon("close"),
          ),
        ),
      ),
    );
  }

  /** @param {Part} part */
  function remove(part) {
    attached = attached.filter((one) => one !== part);
    draw();
    keep();
    clip.focus();
  }

  function picked() {
    attach([...picker.files]);
    picker.value = "";
  }

  /** @param {DragEvent} event */
  function dragged(event) {
    if (!clip.hidden && event.dataTransfer?.types.includes("Files")) event.preventDefault();
  }

  /** @param {DragEvent} event */
  function dropped(event) {
    if (clip.hidden || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    attach([...event.dataTransfer.files]);
  }

  /** @param {ClipboardEvent} event */
  function pasted(event) {
    if (clip.hidden || !event.clipboardData?.files.length) return;
    event.preventDefault();
    attach([...event.clipboardData.files]);
  }

  /** @param {File[]} chosen */
  async function attach(chosen) {
    for (const file of chosen) await one(file);
  }

  /** @param {File} file */
  async function one(file) {
    const bar = h("progress", { max: "1", value: "0", "aria-label": t("say.sending-file", { name: file.name }) });
    const line = h("li", { class: "going" }, icon("file"), h("span", { dir: "auto" }, file.name), bar);
    files.hidden = false;
    files.append(line);
    uploading += 1;
    try {
      attached = [...attached, await upload(task, file, { onProgress: (share) => (bar.value = share), signal })];
      announce(t("say.attached", { name: file.name }));
      keep();
    } catch (problem) {
      if (signal.aborted) return;
      const { title, detail, places } = explained(problem);
      say(
        [t("say.not-attached", { name: file.name }), title, detail, ...places.map((place) => place.problem)]
          .filter(Boolean)
          .join(" "),
      );
    } finally {
      uploading -= 1;
      line.remove();
      draw();
    }
  }

  return {
    element,
    wants({ parameters, default_message: unsaid, files: roots }) {
      form = fields(parameters, kept.typed ?? {}, keep);
      fill(above, form.element);
      clip.hidden = !roots.includes("task");
      needsMessage = unsaid === null;
    },
    takeBack(body) {
      if (text.value || attached.length) return false;
      const texts = (body.message ?? []).flatMap((/** @type {Part} */ part) => part.text ?? []);
      text.value = texts.join("\n");
      attached = (body.message ?? []).filter((/** @type {Part} */ part) => part.file !== undefined);
      draw();
      keep();
      return true;
    },
    say(places) {
      const elsewhere = places.filter(({ at, problem }) => !form.say(fieldAt(at), problem));
      if (elsewhere.length) say(elsewhere.map(({ problem }) => problem).join(" "));
    },
    focus: () => text.focus(),
  };
}

/** @param {string} said @param {Part[]} message @param {any} body */
export function tooLarge(said, message, body) {
  if (bytes(said) > TEXT_BYTES) return t("say.long", { most: size(TEXT_BYTES) });
  if (message.length > MOST_PARTS) return t("say.many", { count: MOST_PARTS });
  return bytes(JSON.stringify(body)) > INPUT_BYTES ? t("say.long", { most: size(INPUT_BYTES) }) : "";
}
