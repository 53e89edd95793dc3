/**
 * The conversation as it is known so far: pages are added as they come, and whatever comes again replaces itself.
 */

/**
 * @typedef {{mimeType: string, text?: string, file?: string, sizeBytes?: number, metadata?: object}} Part
 * @typedef {{type: "input" | "output", message: Part[], received_at?: string, committed_at?: string, error?: string}} Entry
 * @typedef {"arrived" | "seen" | "refused" | "unseen"} Receipt
 */

const ENTRY_NAMES = ["type", "message", "received_at", "committed_at", "error"];

/** An entry's name within its task: an input comes twice, uncommitted and committed. @param {Entry} entry */
export const keyOf = (entry) => entry.received_at ?? `> ${entry.committed_at}`;

export class Conversation {
  /** @type {Map<string, Entry>} */
  #known = new Map();

  /** Add *entries*; whether any of them says something new. @param {Entry[]} entries */
  add(entries) {
    let isNew = false;
    for (const entry of entries) {
      const held = this.#known.get(keyOf(entry));
      if (held && (held.committed_at || !entry.committed_at)) continue;
      this.#known.set(keyOf(entry), entry);
      isNew = true;
    }
    return isNew;
  }

  /** All of them: what was committed in its order, then what has arrived in the order of arrival. */
  get entries() {
    const all = [...this.#known.values()];
    const order = (/** @type {keyof Entry} */ by) => (/** @type {Entry} */ a, /** @type {Entry} */ b) =>
      String(a[by]) < String(b[by]) ? -1 : 1;
    return [
      ...all.filter((entry) => entry.committed_at).sort(order("committed_at")),
      ...all.filter((entry) => !entry.committed_at).sort(order("received_at")),
    ];
  }
}

/**
 * How far an input got: the agent saw it, or a guardrail kept it away, or it has arrived, or the task ended before.
 * @param {Entry} entry
 * @param {boolean} hasEnded
 * @returns {Receipt}
 */
export function receipt(entry, hasEnded) {
  if (entry.error === "denied_by_input_guardrail") return "refused";
  if (entry.committed_at) return "seen";
  return hasEnded ? "unseen" : "arrived";
}

/**
 * Why the input *refused* was: what the answer to it says.
 * @param {Entry} refused
 * @param {Entry[]} entries
 */
export function reasonOf(refused, entries) {
  const answer = entries.find(
    (entry) =>
      entry.type === "output" &&
      entry.error === refused.error &&
      String(entry.committed_at) >= String(refused.committed_at),
  );
  return answer ? textOf(answer) : null;
}

/** What *entry* says in words. @param {Entry} entry */
export const textOf = (entry) => entry.message.flatMap((part) => part.text ?? []).join("\n");

/** What stands beside the message: an input's parameters, or what an agent exposes. @param {Entry} entry */
export const besides = (entry) => Object.entries(entry).filter(([name]) => !ENTRY_NAMES.includes(name));
