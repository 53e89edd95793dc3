/**
 * When to look again: as the server asks, later after failures, seldom while nobody sees the page.
 */

export const UNTOLD_S = 5;
const FIRST_FAILURE_S = 1;
const LONGEST_FAILURE_S = 30;
const FIRST_HIDDEN_S = 30;
const LONGEST_HIDDEN_S = 300;

/**
 * In how many ms to look again.
 * @param {object} now
 * @param {number} now.asked seconds that the server, or the view, asked for
 * @param {number} [now.failures] how often in a row nothing came of it
 * @param {boolean} [now.hidden] nobody sees the page
 * @param {number} [now.unseen] how often it was looked already while nobody saw it
 * @param {number} [now.chance] 0 to 1: failures of many pages are spread
 */
export function pause({ asked, failures = 0, hidden = false, unseen = 0, chance = Math.random() }) {
  let seconds = asked;
  if (failures) {
    const backOff = Math.min(LONGEST_FAILURE_S, FIRST_FAILURE_S * 2 ** (failures - 1));
    seconds = Math.max(asked, backOff * (0.5 + 0.5 * chance));
  }
  if (hidden) seconds = Math.max(seconds, Math.min(LONGEST_HIDDEN_S, FIRST_HIDDEN_S * 2 ** unseen));
  return seconds * 1000;
}
