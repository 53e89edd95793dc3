/**
 * Where somebody was when the page had to be left for a new sign-in: scrolled to, and typing at.
 */

const NAME = "place";
const PATIENCE_MS = 5000;
const STEP_MS = 50;

/** Keep it until the page is back. */
export function keepPlace() {
  const field = document.activeElement;
  const caret = field instanceof HTMLTextAreaElement ? field.selectionStart : null;
  sessionStorage.setItem(NAME, JSON.stringify({ view: location.hash, y: scrollY, field: field?.id ?? "", caret }));
}

/** Go back there, once what was typed at is there again; not when somebody went on meanwhile. */
export async function returnToPlace() {
  const kept = JSON.parse(sessionStorage.getItem(NAME) ?? "null");
  sessionStorage.removeItem(NAME);
  if (!kept?.field) return;
  for (let waited = 0; waited < PATIENCE_MS && kept.view === location.hash; waited += STEP_MS) {
    const field = document.getElementById(kept.field);
    if (field?.checkVisibility() && document.activeElement === document.body) {
      field.focus({ preventScroll: true });
      if (field instanceof HTMLTextAreaElement) field.setSelectionRange(kept.caret, kept.caret);
      scrollTo(0, kept.y);
      return;
    }
    await new Promise((go) => setTimeout(go, STEP_MS));
  }
}
