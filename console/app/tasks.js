/**
 * My tasks as far as they were asked for, newest first. What is shown is read anew from the top, so nothing in it ages.
 */

import { get } from "./api.js";

/** @import { Task } from "./said.js" */

const PAGE = 30;
/** A page of a filtered list may be empty: so many are read before somebody is asked whether to go on. */
const PAGES_AT_ONCE = 5;

export class Tasks {
  /** @type {Task[] | null} */
  tasks = null;
  hasMore = false;
  #pages = 1;
  /** @param {string | null} phase */
  constructor(phase) {
    this.phase = phase;
  }

  /** Read all that is shown. @param {AbortSignal} signal */
  async refresh(signal) {
    const found = await this.#read(null, this.#pages, signal);
    this.tasks = found.tasks;
    this.hasMore = found.next !== null;
  }

  /** Show more: pages are read until one of them has something. @param {AbortSignal} signal */
  async older(signal) {
    const before = this.tasks?.length ?? 0;
    for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
      this.#pages += 1;
      await this.refresh(signal);
      if (!this.hasMore || (this.tasks?.length ?? 0) > before) return;
    }
  }

  /** @param {string | null} cursor @param {number} pages @param {AbortSignal} signal */
  async #read(cursor, pages, signal) {
    const tasks = [];
    let next = cursor;
    for (let page = 0; page < pages; page += 1) {
      const query = new URLSearchParams({ limit: String(PAGE) });
      if (this.phase) query.set("phase", this.phase);
      if (next) query.set("cursor", next);
      const { body } = await get(`/v1/tasks?${query}`, { signal });
      tasks.push(...body.tasks);
      next = body.next;
      if (!next) break;
    }
    return { tasks, next };
  }
}
