/**
 * The journal as turns: each a row of spans, in which an attempt runs, the turn waits for somebody, or nothing happens.
 */

/**
 * @typedef {object} Entry
 * @property {number} n
 * @property {string} at
 * @property {string} transition
 * @property {string} [to] the phase that it led to
 * @property {number | null} code
 * @property {string} actor
 * @property {number | null} [turn]
 * @property {number | null} [attempt]
 *
 * @typedef {"runs" | "waits" | "between"} Kind
 * @typedef {{kind: Kind, from: number, to: number, attempt: number | null, end: string | null, outputs: number}} Span
 * @typedef {{number: number, spans: Span[]}} Turn
 */

const BEGINS = ["start_turn", "start_attempt"];
/** What ends a span, and what the turn does then; null: the turn is over. @type {Record<string, Kind | null>} */
const ENDS = {
  start_turn: "runs",
  start_attempt: "runs",
  fail_attempt: "between",
  lose_turn: "between",
  suspend: "waits",
  finish: null,
  interrupt: null,
  complete: null,
  error: null,
  restrict: null,
  expire: null,
};
const SAYS = ["emit", "release_output"];

/**
 * The turns of a journal; what still goes on lasts until *now* (ms).
 * @param {Entry[]} entries
 * @param {number} now
 * @returns {Turn[]}
 */
export function turnsOf(entries, now) {
  /** @type {Turn[]} */
  const turns = [];
  /** @type {Span | null} */
  let open = null;
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    if (open && SAYS.includes(entry.transition)) open.outputs += 1;
    if (!(entry.transition in ENDS)) continue;
    const next = entry.to === "terminal" ? null : ENDS[entry.transition];
    if (open) {
      open.to = at;
      open.end = entry.transition;
      open = null;
    }
    if (next === null) continue;
    const number = entry.turn ?? turns.at(-1)?.number ?? 1;
    if (turns.at(-1)?.number !== number) turns.push({ number, spans: [] });
    open = {
      kind: next,
      from: at,
      to: now,
      attempt: BEGINS.includes(entry.transition) ? (entry.attempt ?? 1) : null,
      end: null,
      outputs: 0,
    };
    turns.at(-1)?.spans.push(open);
  }
  return turns;
}

/**
 * How wide *span* is drawn: by its logarithm, so that a second can be seen beside a day.
 * @param {Span} span
 */
export const width = ({ from, to }) => 1 + Math.log2(1 + Math.max(0, to - from) / 50);

/** How long *turn* took. @param {Turn} turn */
export const lasted = ({ spans }) => (spans.at(-1)?.to ?? 0) - (spans[0]?.from ?? 0);
