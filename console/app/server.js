/**
 * Whether the server is there, as the last requests found it. While it is away the page says so, and keeps trying.
 */

/** One request that came to nothing may be chance. */
const SILENCES = 2;

class Server extends EventTarget {
  isAway = false;
  #silences = 0;
  /** When somebody tries again next (ms of this machine's clock). */
  nextTry = 0;

  /** An answer came. */
  answered() {
    this.#silences = 0;
    if (!this.isAway) return;
    this.isAway = false;
    this.dispatchEvent(new Event("change"));
    this.tryNow();
  }

  /** No answer came. */
  silent() {
    this.#silences += 1;
    if (this.isAway || this.#silences < SILENCES) return;
    this.isAway = true;
    this.dispatchEvent(new Event("change"));
  }

  /** Somebody looks again in *ms*. @param {number} ms */
  willTry(ms) {
    const at = Date.now() + ms;
    if (this.nextTry < Date.now() || at < this.nextTry) this.nextTry = at;
  }

  /** Whoever waits to look again looks now. */
  tryNow() {
    this.nextTry = 0;
    this.dispatchEvent(new Event("try"));
  }
}

export const server = new Server();
addEventListener("online", () => server.tryNow());
