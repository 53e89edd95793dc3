/**
 * What a refusal says: problem details with a code, the places that are wrong and a retry contract, or the gateway's
 * own bare answer, which promises nothing.
 */

/**
 * @typedef {{at: string, problem: string}} Place
 * @typedef {{retryable: boolean, safe: boolean, sideEffects: string, reconciliation: string | null}} Retry
 * @typedef {object} Problem
 * @property {number} status of HTTP
 * @property {string | null} detail
 * @property {number | null} code of Agent Status Codes
 * @property {string | null} name
 * @property {Place[]} places
 * @property {Retry} retry
 * @property {number} after seconds until it makes sense to try again; 0 where nobody said
 * @property {string | null} correlation
 */

/**
 * The refusal in an answer.
 * @param {number} status
 * @param {{get(name: string): string | null}} headers
 * @param {string} text
 * @returns {Problem}
 */
export function problemOf(status, headers, text) {
  const said = object(parsed(text));
  const typed = (headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  const isOurs = typed === "application/problem+json";
  const agentStatus = object(isOurs ? said.agent_status : null);
  const retry = object(isOurs ? said.retry : null);
  return {
    status,
    detail: string(isOurs ? said.detail : null),
    code: number(agentStatus.code),
    name: string(agentStatus.name),
    places: isOurs ? places(said.errors) : [],
    retry: {
      retryable: retry.retryable === true,
      safe: retry.safe === true,
      sideEffects: string(retry.side_effect_state) ?? "unknown",
      reconciliation: string(retry.reconciliation_action),
    },
    after: Math.max(seconds(headers.get("retry-after")), (number(retry.after_ms) ?? 0) / 1000),
    correlation: headers.get("x-correlation-id"),
  };
}

/** @param {unknown} errors @returns {Place[]} */
function places(errors) {
  if (!Array.isArray(errors)) return [];
  return errors.map(object).map((one) => ({ at: String(one.at ?? ""), problem: String(one.problem ?? "") }));
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {string | null} header */
function seconds(header) {
  return header !== null && /^\d{1,6}$/.test(header.trim()) ? Number(header) : 0;
}

/** @param {unknown} said @returns {Record<string, any>} */
const object = (said) => (said && typeof said === "object" && !Array.isArray(said) ? said : {});
/** @param {unknown} said */
const string = (said) => (typeof said === "string" && said ? said : null);
/** @param {unknown} said */
const number = (said) => (typeof said === "number" ? said : null);
