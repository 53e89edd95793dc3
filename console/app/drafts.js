/**
 * What was written and not sent outlives a reload and a renewed sign-in, in this tab; signing out forgets it.
 */

import { claim, isSignedIn } from "./session.js";

const PREFIX = "draft.";

/** @param {string} name @returns {any} */
export function draft(name) {
  return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null");
}

/** Keep *value* under *name*; null forgets it. @param {string} name @param {any} value */
export function keepDraft(name, value) {
  if (!isSignedIn()) return;
  if (value === null) {
    sessionStorage.removeItem(PREFIX + name);
    return;
  }
  try {
    claim();
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // The browser's room is full: what is on the screen stays there.
  }
}

/** The names of what is kept that begin with *prefix*. @param {string} prefix */
export const draftsNamed = (prefix) =>
  Object.keys(sessionStorage)
    .filter((name) => name.startsWith(PREFIX + prefix))
    .map((name) => name.slice(PREFIX.length));
