/**
 * Where somebody was when the page had to be left for a new sign-in: scrolled to, and typing at.
 */

const NAME = "place";

/** Keep it until the page is back. */
export function keepPlace() {
  const field = document.activeElement;
  const caret = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement ? field.selectionStart : null;
  sessionStorage.setItem(NAME, JSON.stringify({ view: location.hash, y: scrollY, field: field?.id ?? "", caret }));
}

/** Go back there, as soon as it is there again. */
export function returnToPlace() {
  const kept = JSON.parse(sessionStorage.getItem(NAME) ?? "null");
  sessionStorage.removeItem(NAME);
  if (!kept || kept.view !== location.hash) return;
  scrollTo(0, kept.y);
  const field = kept.field && document.getElementById(kept.field);
  if (!field) return;
  field.focus({ preventScroll: true });
  if (kept.caret !== null && "setSelectionRange" in field) {
    /** @type {HTMLTextAreaElement} */ (field).setSelectionRange(kept.caret, kept.caret);
  }
}
