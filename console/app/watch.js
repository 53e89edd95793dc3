/**
 * Looking again and again: when the server says, later after failures, seldom unseen, and at once when seen again.
 */

import { pause, UNTOLD_S } from "./pace.js";
import { server } from "./server.js";

/**
 * Call *look* until it says null, or *signal* is aborted. It says in how many seconds it wants to be called again.
 * A look that fails is tried again later; *onFailure* may end it by saying true.
 * @param {() => Promise<number | null>} look
 * @param {{signal: AbortSignal, onFailure?: (error: any) => boolean | void}} how
 * @returns {{now(): void}} looks at once
 */
export function watch(look, { signal, onFailure }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let asked = UNTOLD_S;
  let failures = 0;
  let unseen = 0;
  let isLooking = false;
  let isWanted = false;
  let isOver = false;

  async function run() {
    if (isLooking || isOver) {
      isWanted = isLooking;
      return;
    }
    clearTimeout(timer);
    isLooking = true;
    try {
      const said = await look();
      isOver = said === null;
      asked = said ?? 0;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      asked = /** @type {any} */ (error)?.problem?.after ?? 0;
      isOver = onFailure?.(error) === true;
    } finally {
      isLooking = false;
    }
    unseen = document.hidden ? unseen + 1 : 0;
    if (isWanted) {
      isWanted = false;
      run();
    } else schedule();
  }

  function schedule() {
    clearTimeout(timer);
    if (isOver || signal.aborted) return;
    const ms = pause({ asked, failures, hidden: document.hidden, unseen: Math.max(0, unseen - 1) });
    if (failures) server.willTry(ms);
    timer = setTimeout(run, ms);
  }

  const seen = () => {
    if (document.hidden) schedule();
    else run();
  };
  const retry = () => {
    if (failures) run();
  };
  document.addEventListener("visibilitychange", seen);
  server.addEventListener("try", retry);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    isOver = true;
    document.removeEventListener("visibilitychange", seen);
    server.removeEventListener("try", retry);
  });
  run();
  return { now: run };
}
