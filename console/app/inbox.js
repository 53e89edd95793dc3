/**
 * What waits for this person, over all tasks: sign-ins to give, and reviews to decide, their own tasks' and others'.
 */

import { get } from "./api.js";
import { waitsOf } from "./waits.js";
import { watch } from "./watch.js";

const EVERY_S = 10;
const PAGE = 100;
const MOST_PAGES = 5;

/** @import { Wait } from "./waits.js" */

class Inbox extends EventTarget {
  /** @type {Wait[] | null} null until they are known */
  waits = null;
  /** @type {{now(): void} | null} */
  #watch = null;

  /** Look again and again until *signal* is aborted. @param {AbortSignal} signal */
  follow(signal) {
    this.#watch = watch(
      async () => {
        const [calls, reviews] = await Promise.all([
          all("/v1/notifications", "notifications", signal),
          all("/v1/reviews", "reviews", signal),
        ]);
        const before = JSON.stringify(this.waits);
        this.waits = waitsOf(calls, reviews);
        if (JSON.stringify(this.waits) !== before) this.dispatchEvent(new Event("change"));
        return EVERY_S;
      },
      { signal },
    );
  }

  /** Something may have changed: look at once. */
  look() {
    this.#watch?.now();
  }

  /** That one was decided. @param {string} key */
  settle(key) {
    this.waits = (this.waits ?? []).filter((wait) => wait.key !== key);
    this.dispatchEvent(new Event("change"));
    this.look();
  }

  /** Call *changed* now, if there is something to say, and whenever it changes. @param {() => void} changed @param {AbortSignal} signal */
  listen(changed, signal) {
    this.addEventListener("change", changed, { signal });
    if (this.waits) changed();
  }
}

export const inbox = new Inbox();

/** @param {string} path @param {string} name @param {AbortSignal} signal */
async function all(path, name, signal) {
  const found = [];
  let cursor = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor ? { cursor } : {}) });
    const { body } = await get(`${path}?${query}`, { signal });
    found.push(...body[name]);
    cursor = body.next;
    if (!cursor) break;
  }
  return found;
}
