/**
 * Every word that people read stands in `texts/<language>.json`, under a key; numbers choose among plural forms.
 */

export const LANGUAGE = "en";

/** @type {Record<string, string | Record<string, string>>} */
let words = {};
const plurals = new Intl.PluralRules(LANGUAGE);

/** Have the words at hand. @param {Record<string, string | Record<string, string>>} found */
export function speak(found) {
  words = found;
}

/** Fetch the words of this language. */
export async function loadTexts() {
  speak(await (await fetch(`/texts/${LANGUAGE}.json`)).json());
}

/**
 * The text under *key*, with *values* in the places that it names; of plural forms, the one for `values.count`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const found = words[key] ?? key;
  const form = typeof found === "string" ? found : (found[plurals.select(Number(values.count))] ?? found.other);
  return form.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
}

/** Whether there is a text under *key*. @param {string} key */
export function isKnown(key) {
  return key in words;
}
