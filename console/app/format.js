/**
 * Times, durations and sizes as people read them, by the rules of their language.
 */

import { LANGUAGE } from "./texts.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ago = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: "auto" });
const clock = new Intl.DateTimeFormat(LANGUAGE, { hour: "2-digit", minute: "2-digit", hour12: false });
const exact = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "medium", hour12: false });
const day = new Intl.DateTimeFormat(LANGUAGE, { weekday: "long", day: "numeric", month: "long" });
const brief = new Intl.DateTimeFormat(LANGUAGE, { day: "numeric", month: "short" });

/** @param {number} value @param {string} unit */
const counted = (value, unit) =>
  new Intl.NumberFormat(LANGUAGE, { style: "unit", unit, unitDisplay: "long" }).format(value);

/** How long *instant* is away from *now* (ms): `3 minutes ago`, `in 2 days`. @param {number} instant @param {number} now */
export function relative(instant, now) {
  const away = instant - now;
  const size = Math.abs(away);
  if (size < MINUTE) return ago.format(0, "second");
  if (size < HOUR) return ago.format(Math.trunc(away / MINUTE), "minute");
  if (size < DAY) return ago.format(Math.trunc(away / HOUR), "hour");
  return ago.format(Math.trunc(away / DAY), "day");
}

/**
 * What is left of *ms*: by the second in the last hour (`4:05`), in words before.
 * @param {number} ms
 */
export function countdown(ms) {
  const left = Math.max(0, Math.ceil(ms / SECOND));
  if (left < 3600) return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  const hours = Math.floor(left / 3600);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
}

/** A span as a chart says it: `850 ms`, `2.4 s`, `3 min`. @param {number} ms */
export function span(ms) {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

/** The time of day. @param {number} instant */
export const time = (instant) => clock.format(instant);

/** Date and time to the second. @param {number} instant */
export const precisely = (instant) => exact.format(instant);

/** The date, short. @param {number} instant */
export const date = (instant) => brief.format(instant);

/** Which day *instant* is, seen from *now*: `today`, `yesterday`, `Monday, 23 November`. @param {number} instant @param {number} now */
export function dayOf(instant, now) {
  const days = Math.round((midnight(instant) - midnight(now)) / DAY);
  const said = days > -2 && days < 1 ? ago.format(days, "day") : day.format(instant);
  return said.charAt(0).toLocaleUpperCase(LANGUAGE) + said.slice(1);
}

/** @param {number} instant */
const midnight = (instant) => new Date(instant).setHours(0, 0, 0, 0);

/** @param {number} bytes */
export function size(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return new Intl.NumberFormat(LANGUAGE, {
    style: "unit",
    unit: units[unit],
    unitDisplay: unit ? "short" : "long",
    maximumFractionDigits: value < 10 && unit ? 1 : 0,
  }).format(value);
}

/** How many bytes *text* has in UTF-8. @param {string} text */
export const bytes = (text) => new TextEncoder().encode(text).length;

/** The beginning of an id, enough for people to tell two apart. @param {string} id */
export const short = (id) => id.slice(0, 8);
