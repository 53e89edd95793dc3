/**
 * What happens by itself is said aloud too, politely, for those who do not see it.
 */

const region = /** @type {HTMLElement} */ (document.getElementById("live"));

/** Have screen readers say *text* when they are done with what they say now. @param {string} text */
export function announce(text) {
  const line = document.createElement("p");
  line.textContent = text;
  region.append(line);
  while (region.childElementCount > 5) region.firstElementChild?.remove();
}
