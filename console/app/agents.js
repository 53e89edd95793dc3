/**
 * The agents of this deployment that a person may start, with what each wants to be told.
 */

import { get } from "./api.js";
import { Refused } from "./errors.js";

const PAGE = 100;

/** @import { Schema } from "./parameters.js" */

/** @typedef {{name: string, description: string}} Named */
/** @typedef {Named & {parameters: Schema | null, default_message: any[] | null, files: string[]}} Agent */

/** @type {Map<string, Agent | null>} */
const known = new Map();

/** All of them, by name. @param {AbortSignal} signal @returns {Promise<Named[]>} */
export async function agents(signal) {
  const found = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor ? { cursor } : {}) });
    const { body } = await get(`/v1/agents?${query}`, { signal });
    found.push(...body.agents);
    cursor = body.next;
  } while (cursor);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The agent of that *name*; null when there is none any more. @param {string} name @param {AbortSignal} signal */
export async function agent(name, signal) {
  if (!known.has(name)) {
    try {
      known.set(name, (await get(`/v1/agents/${encodeURIComponent(name)}`, { signal })).body);
    } catch (error) {
      if (!(error instanceof Refused) || error.problem.status !== 404) throw error;
      known.set(name, null);
    }
  }
  return known.get(name) ?? null;
}
