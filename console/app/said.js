/**
 * Facts of the API in words: where a task stands, what a code means, why something was refused.
 */

import { Refused, Unreachable, UploadFailed } from "./errors.js";
import { isKnown, t } from "./texts.js";

/** @import { Place, Problem } from "./problem.js" */

/**
 * @typedef {object} Task
 * @property {string} id
 * @property {string} agent
 * @property {string} responsible_user
 * @property {string} created_at
 * @property {{phase: string, terminal_reason: string | null, revision: string, idle_expires_at: string | null,
 *   notifications: {kind: string, since: string, provider?: string}[]}} status
 */

/** Which of the few pictures of a task this is. @param {Task} task */
export function standing({ status }) {
  if (status.phase === "terminal") return status.terminal_reason ?? "completed";
  if (status.notifications.length) return "waits";
  return status.phase;
}

/** What ASC *code* means, or its class where nobody knows it yet. @param {number} code */
export function meaning(code) {
  const key = `asc.${code}`;
  return t(isKnown(key) ? key : `asc.class.${Math.floor(code / 1000)}`);
}

/** The header `Agent-Status` as its parts; null where it says nothing that we can read. @param {string | null} header */
export function agentStatusOf(header) {
  const found = /^(\d{4});name=([A-Z_]+)/.exec(header ?? "");
  return found && { code: Number(found[1]), name: found[2] };
}

/** A word of the API such as `send_input`, in words. @param {string} prefix @param {string} word */
export function worded(prefix, word) {
  return isKnown(`${prefix}.${word}`) ? t(`${prefix}.${word}`) : word.replaceAll("_", " ");
}

/**
 * What went wrong, in words.
 * @param {unknown} error
 * @returns {{title: string, detail: string | null, places: Place[]}}
 */
export function explained(error) {
  if (error instanceof Refused) return refusal(error.problem);
  if (error instanceof Unreachable) return { title: t("error.unreachable"), detail: null, places: [] };
  if (error instanceof UploadFailed) return { title: t("error.upload"), detail: error.message, places: [] };
  return { title: t("error.page"), detail: error instanceof Error ? error.message : null, places: [] };
}

/** @param {Problem} problem */
export function refusal(problem) {
  const keys = [`error.${problem.code}`, `error.http.${problem.status}`];
  const title = t(keys.find(isKnown) ?? "error.other");
  const trace = problem.status >= 500 && problem.correlation;
  const detail = trace ? t("error.correlation", { detail: problem.detail ?? "", id: trace }) : problem.detail;
  return { title, detail, places: problem.places };
}
