/**
 * Requests to the API: as the person who is signed in, a few at a time, repeated only where that is safe.
 */

import { learn } from "./clock.js";
import { Refused, Unreachable } from "./errors.js";
import { mayRepeat, patience } from "./patience.js";
import { problemOf } from "./problem.js";
import { server } from "./server.js";
import { renewInTime, renewRefused, token, undisturbed } from "./session.js";

/** @import { Problem } from "./problem.js" */

const TIMEOUT = 30_000;
const AT_ONCE = 4;
/** What somebody on the way says in place of a server that is not there. */
const NOBODY_THERE = [502, 503, 504];

/**
 * @typedef {{status: number, headers: Headers, body: any}} Answer
 * @typedef {object} How
 * @property {any} [body]
 * @property {string | null} [etag] what is known already: the answer may be 304
 * @property {string} [key] makes the request safe to repeat
 * @property {boolean} [repeatable] it is so by nature
 * @property {AbortSignal} [signal]
 * @property {() => void} [onPause] it is not answered yet, and will be sent again
 */

/** One look, which whoever watches repeats. @param {string} path @param {How} [how] */
export const get = (path, how = {}) => once("GET", path, how);

/** Send until it is answered, as far as its refusals allow that. @param {string} path @param {any} body @param {How} [how] @returns {Promise<Answer>} */
export const post = (path, body, how = {}) => undisturbed(patiently(path, body, how));

/** @param {string} path @param {any} body @param {How} how @returns {Promise<Answer>} */
async function patiently(path, body, how) {
  const repeatable = how.repeatable ?? how.key !== undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once("POST", path, { ...how, body });
    } catch (error) {
      const may =
        error instanceof Refused ? mayRepeat(error.problem, repeatable) : error instanceof Unreachable && repeatable;
      const ms = may ? patience(attempt, error instanceof Refused ? error.problem.after : 0) : null;
      if (ms === null) throw error;
      how.onPause?.();
      await paused(ms, how.signal);
    }
  }
}

/** @param {string} method @param {string} path @param {How} how @returns {Promise<Answer>} */
async function once(method, path, how) {
  const release = await turn();
  try {
    return await sent(method, path, how);
  } finally {
    release();
  }
}

/** @param {string} method @param {string} path @param {How} how @returns {Promise<Answer>} */
async function sent(method, path, { body, etag, key, signal }) {
  /** @type {Record<string, string>} */
  const headers = { authorization: `Bearer ${token()}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (etag) headers["if-none-match"] = etag;
  if (key) headers["idempotency-key"] = key;
  const late = AbortSignal.timeout(TIMEOUT);
  let answer;
  let text;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, late]) : late,
      cache: "no-store",
      credentials: "omit",
    });
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    server.silent();
    throw new Unreachable(path);
  }
  const refused = answer.ok || answer.status === 304 ? null : problemOf(answer.status, answer.headers, text);
  if (refused?.code === null && NOBODY_THERE.includes(answer.status)) server.silent();
  else server.answered();
  learn(answer.headers.get("date"));
  if (answer.status === 401 && renewRefused()) await new Promise(() => {});
  setTimeout(renewInTime);
  if (answer.ok) return { status: answer.status, headers: answer.headers, body: JSON.parse(text) };
  if (answer.status === 304) return { status: 304, headers: answer.headers, body: null };
  throw new Refused(/** @type {Problem} */ (refused));
}

/** Seconds until it is worth looking again, or null where nothing will change. @param {Answer} answer */
export function pollAfter(answer) {
  const said = answer.headers.get("poll-after");
  return said === null ? null : Math.max(Number(said) || 0, 0.25);
}

let going = 0;
/** @type {(() => void)[]} */
const queue = [];

/** Wait until few enough requests are going; what comes back lets the next one go. @returns {Promise<() => void>} */
async function turn() {
  if (going >= AT_ONCE) await new Promise((go) => queue.push(() => go(undefined)));
  going += 1;
  return () => {
    going -= 1;
    queue.shift()?.();
  };
}

/** Wait *ms*, or until the server is found to be back. @param {number} ms @param {AbortSignal} [signal] */
function paused(ms, signal) {
  return new Promise((go, stop) => {
    const done = () => {
      clearTimeout(timer);
      server.removeEventListener("try", done);
      go(undefined);
    };
    const timer = setTimeout(done, ms);
    server.willTry(ms);
    server.addEventListener("try", done);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      server.removeEventListener("try", done);
      stop(signal.reason);
    });
  });
}
