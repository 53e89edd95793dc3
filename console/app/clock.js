/**
 * What time it is for the server, whose instants are what counts; and a tick each second while the page is seen.
 */

const SECOND = 1000;
/** A header names whole seconds: less than this is no difference. */
const TOLERANCE = 2 * SECOND;

let ahead = 0;
/** @type {Set<() => void>} */
const ticking = new Set();

/** Now (ms), by the server's clock. */
export const now = () => Date.now() + ahead;

/** Learn the server's clock from the header `Date` of an answer. @param {string | null} header */
export function learn(header) {
  const said = header ? Date.parse(header) : NaN;
  if (Number.isNaN(said)) return;
  const away = said + SECOND / 2 - Date.now();
  ahead = Math.abs(away) > TOLERANCE ? away : 0;
}

/** Call *tick* now and each second until *signal* is aborted. @param {() => void} tick @param {AbortSignal} signal */
export function eachSecond(tick, signal) {
  ticking.add(tick);
  signal.addEventListener("abort", () => ticking.delete(tick));
  tick();
}

setInterval(() => {
  if (!document.hidden) for (const tick of ticking) tick();
}, SECOND);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) for (const tick of ticking) tick();
});
