/**
 * What this person has sent to a task and the server has not taken yet. Each input goes out under a key of its own, in
 * order, until it is answered: sent again after a lost answer, a reload or a new sign-in, it is still there once.
 */

import { post } from "./api.js";
import { draft, draftsNamed, keepDraft } from "./drafts.js";
import { Refused, Unreachable } from "./errors.js";
import { server } from "./server.js";

/** @import { Part } from "./conversation.js" */
/** @import { Problem } from "./problem.js" */

/** The server forgets a key after a day: what is older may be there already, and is not sent again. */
const OLDEST = 23 * 3_600_000;
const PATIENCE = 30_000;
const PREFIX = "outbox.";

/**
 * @typedef {object} Item
 * @property {string} key
 * @property {{message?: Part[]}} body without a message where the agent has one of its own
 * @property {number} at when it was sent (ms)
 * @property {"sending" | "waiting" | "refused" | "old"} state
 * @property {Problem} [problem] why it was refused
 */

/** @type {Map<string, Outbox>} */
const outboxes = new Map();

/** What is on its way to *task*; it goes on being sent, whatever view is shown. @param {string} task */
export function outboxOf(task) {
  const found = outboxes.get(task) ?? new Outbox(task);
  outboxes.set(task, found);
  return found;
}

/** Go on sending what an earlier page of this tab had not done with. */
export function resume() {
  for (const name of draftsNamed(PREFIX)) outboxOf(name.slice(PREFIX.length));
}

/** Tells `change` when there is something new to show, and `sent`, with the entry, when the server took one. */
class Outbox extends EventTarget {
  /** @type {Item[]} */
  items;
  #isSending = false;

  /** @param {string} task */
  constructor(task) {
    super();
    this.task = task;
    this.items = draft(this.#name) ?? [];
    for (const item of this.items) if (item.state === "waiting") item.state = "sending";
    this.#send();
  }

  get #name() {
    return PREFIX + this.task;
  }

  /** Send *body*, after all that is sent already. @param {Item["body"]} body */
  add(body) {
    this.items.push({ key: crypto.randomUUID(), body, at: Date.now(), state: "sending" });
    this.#changed();
    this.#send();
  }

  /** Take an item back that the server did not take. @param {Item} item */
  remove(item) {
    this.items = this.items.filter((one) => one !== item);
    this.#changed();
  }

  /** Send a refused item once more, under its own key. @param {Item} item */
  again(item) {
    item.state = "sending";
    delete item.problem;
    this.#changed();
    this.#send();
  }

  async #send() {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let item; (item = this.items.find(({ state }) => state === "sending" || state === "waiting"));) {
        await this.#deliver(item);
      }
    } finally {
      this.#isSending = false;
    }
  }

  /** @param {Item} item */
  async #deliver(item) {
    if (Date.now() - item.at > OLDEST) return this.#settle(item, "old");
    try {
      const answer = await post(`/v1/tasks/${this.task}/inputs`, item.body, {
        key: item.key,
        onPause: () => this.#settle(item, "waiting"),
      });
      this.items = this.items.filter((one) => one !== item);
      const received_at = answer.headers.get("received-at") ?? undefined;
      const entry = { type: "input", message: [], ...item.body, received_at };
      this.dispatchEvent(new CustomEvent("sent", { detail: entry }));
      this.#changed();
    } catch (error) {
      if (error instanceof Refused) {
        item.problem = error.problem;
        this.#settle(item, "refused");
      } else if (error instanceof Unreachable) {
        this.#settle(item, "waiting");
        await serverOr(PATIENCE);
      } else throw error;
    }
  }

  /** @param {Item} item @param {Item["state"]} state */
  #settle(item, state) {
    item.state = state;
    this.#changed();
  }

  #changed() {
    keepDraft(this.#name, this.items.length ? this.items : null);
    this.dispatchEvent(new Event("change"));
  }
}

/** Until the server is found to be back, or *ms* are over. @param {number} ms */
function serverOr(ms) {
  return new Promise((go) => {
    setTimeout(go, ms);
    server.addEventListener("try", go, { once: true });
  });
}
