/**
 * A form for an agent's parameters, with each problem said at its field.
 */

import { h } from "../dom.js";
import { fieldsOf, kindOf, read, typed } from "../parameters.js";
import { t } from "../texts.js";

/** @import { Schema } from "../parameters.js" */

/**
 * @param {Schema | null | undefined} schema
 * @param {Record<string, string>} kept what was typed before, by name
 * @param {() => void} onInput
 */
export function fields(schema, kept, onInput) {
  const all = fieldsOf(schema).map(({ name, wanted, required }) => field(name, wanted, required, kept[name], onInput));
  return {
    element: h(
      "div",
      { class: "fields", hidden: all.length === 0 },
      all.map(({ element }) => element),
    ),
    isEmpty: all.length === 0,
    /** What was typed, as it was typed. */
    typed: () => Object.fromEntries(all.map(({ name, control }) => [name, control.value])),
    /** The values, or null when one of them is none: then it says so at its field, which has the focus. */
    values() {
      const values = {};
      let wrong = null;
      for (const { name, wanted, required, control, say } of all) {
        const found = read(wanted, control.value);
        const problem = !found.ok ? t(found.problem) : required && found.value === undefined ? t("field.required") : "";
        say(problem);
        if (problem) wrong ??= control;
        else if (found.ok && found.value !== undefined) Object.assign(values, { [name]: found.value });
      }
      wrong?.focus();
      return wrong ? null : values;
    },
    /** Say *problem* at the field *name*; false when there is none of that name. @param {string} name @param {string} problem */
    say(name, problem) {
      const found = all.find((one) => one.name === name);
      found?.say(problem);
      return found !== undefined;
    },
  };
}

/** @param {string} name @param {Schema} wanted @param {boolean} required @param {string | undefined} kept @param {() => void} oninput */
function field(name, wanted, required, kept, oninput) {
  const id = `field-${name}`;
  const kind = kindOf(wanted);
  const hints = [
    wanted.description,
    kind === "lines" && t("field.lines"),
    kind === "json" && t("field.as-json"),
    wanted.format === "file" && t("field.file"),
  ];
  const hint = h("p", { class: "hint", id: `${id}-hint` }, hints.filter(Boolean).join(" "));
  const error = h("p", { class: "field-error", id: `${id}-error`, hidden: true });
  const control = h(nameOf(kind), {
    id,
    name,
    oninput,
    required,
    "aria-describedby": `${id}-hint ${id}-error`,
    ...attributes(kind, wanted),
  });
  if (kind === "choice" || kind === "yes-or-no") control.append(...options(wanted, required));
  control.value = kept ?? typed(wanted, wanted.default);
  return {
    name,
    wanted,
    required,
    control,
    element: h(
      "div",
      { class: "field" },
      h(
        "label",
        { for: id },
        wanted.title ?? name,
        !required && h("span", { class: "quiet" }, " ", t("field.optional")),
      ),
      control,
      hint,
      error,
    ),
    /** @param {string} problem */
    say(problem) {
      error.hidden = !problem;
      error.textContent = problem;
      control.toggleAttribute("aria-invalid", Boolean(problem));
      if (problem) control.setAttribute("aria-invalid", "true");
    },
  };
}

/** @param {string} kind */
const nameOf = (kind) =>
  ({ choice: "select", "yes-or-no": "select", long: "textarea", lines: "textarea", json: "textarea" })[kind] ?? "input";

/** @param {string} kind @param {Schema} wanted */
function attributes(kind, wanted) {
  if (kind === "number")
    return { type: "number", step: wanted.type === "integer" ? "1" : "any", min: wanted.minimum, max: wanted.maximum };
  if (kind === "text") return { type: "text", maxlength: wanted.maxLength, autocomplete: "off" };
  return kind === "long"
    ? { maxlength: wanted.maxLength, rows: "3" }
    : { rows: kind === "choice" || kind === "yes-or-no" ? null : "3" };
}

/** @param {Schema} wanted @param {boolean} required */
function options(wanted, required) {
  const choices = wanted.enum
    ? wanted.enum.map((value) => ({
        value: JSON.stringify(value),
        text: typeof value === "string" ? value : JSON.stringify(value),
      }))
    : [
        { value: "true", text: t("field.yes") },
        { value: "false", text: t("field.no") },
      ];
  const none = { value: "", text: required ? t("field.choose") : t("field.none") };
  return [none, ...choices].map(({ value, text }) => h("option", { value }, text));
}
