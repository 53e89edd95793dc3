/**
 * Whether the same request is sent once more, and after how long: what is not safe to repeat never is.
 *
 * The same rules as the Python client's (client/turnkeeper_client/retrying.py).
 */

/** @import { Problem } from "./problem.js" */

const RESULT_STATE_UNKNOWN = 6005;
const TIMEOUT = 5004;
/** What no waiting mends: something else has to happen first. */
const AFTER_TRANSITION = [3002, 3003, 4001];
const UNSETTLED = ["possible", "unknown"];
/** The gateway's own, before anything ran. */
const BEFORE_ANYTHING = [429];
/** The gateway's own, when nobody knows what ran. */
const LOST_BEHIND = [500, 502, 503, 504];

const ATTEMPTS = 6;
const FIRST_S = 0.5;
const LONGEST_S = 20;

/**
 * Whether the request that met *problem* may be sent again; *repeatable*: by nature, or by its key.
 * @param {Problem} problem
 * @param {boolean} repeatable
 */
export function mayRepeat(problem, repeatable) {
  const { code, status, retry } = problem;
  if (code === null) return BEFORE_ANYTHING.includes(status) || (repeatable && LOST_BEHIND.includes(status));
  if (code === RESULT_STATE_UNKNOWN || (code === TIMEOUT && UNSETTLED.includes(retry.sideEffects))) {
    return repeatable && retry.safe && retry.reconciliation === "repeat_the_request";
  }
  if (AFTER_TRANSITION.includes(code)) return false;
  return repeatable && retry.retryable && retry.safe;
}

/**
 * How many ms to wait after that *attempt* (from 1), never less than *asked* seconds; null: give up.
 * @param {number} attempt
 * @param {number} asked
 * @param {number} [chance]
 */
export function patience(attempt, asked, chance = Math.random()) {
  if (attempt >= ATTEMPTS || asked > LONGEST_S) return null;
  const backOff = Math.min(LONGEST_S, FIRST_S * 2 ** (attempt - 1));
  return (asked + backOff * (0.5 + 0.5 * chance)) * 1000;
}
