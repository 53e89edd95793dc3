/**
 * Which view is shown: the address's part after `#` says so, and a link is enough to get there.
 */

/** @typedef {{view: string, id: string | null, rest: string | null}} Place */

const PLACES = [
  { view: "home", pattern: /^(?:#\/?)?$/ },
  { view: "waiting", pattern: /^#\/waiting$/ },
  { view: "new", pattern: /^#\/new(?:\/([^/]+))?$/ },
  { view: "task", pattern: /^#\/tasks\/([^/]+)$/ },
  { view: "journal", pattern: /^#\/tasks\/([^/]+)\/journal$/ },
];

/** What *hash* names. @param {string} hash @returns {Place} */
export function placeOf(hash) {
  const [path, query] = hash.split("?");
  for (const { view, pattern } of PLACES) {
    const found = pattern.exec(path);
    if (found) return { view, id: found[1] ? decoded(found[1]) : null, rest: query ?? null };
  }
  return { view: "missing", id: null, rest: null };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const to = {
  home: "#/",
  waiting: "#/waiting",
  /** @param {string} [agent] */
  create: (agent) => (agent ? `#/new/${encodeURIComponent(agent)}` : "#/new"),
  /** @param {string} id */
  task: (id) => `#/tasks/${encodeURIComponent(id)}`,
  /** @param {string} id */
  journal: (id) => `#/tasks/${encodeURIComponent(id)}/journal`,
};
