/**
 * What waits for a person, put together from the two lists that the API has of it.
 */

/**
 * @typedef {{id: string, agent: string, subject: string, since: string, deadline: string}} Review
 * @typedef {{task: string, agent: string, kind: string, since: string, provider?: string}} Call
 * @typedef {{key: string, kind: "review" | "sign-in" | "look", agent: string, since: string, task: string | null, review?: Review, provider?: string}} Wait
 */

/**
 * One list of both. A review says nothing of its task; a call of one's own task does, and began at the same instant.
 * @param {Call[]} calls
 * @param {Review[]} reviews
 * @returns {Wait[]}
 */
export function waitsOf(calls, reviews) {
  const own = new Map(calls.filter(isReview).map((call) => [nameOf(call), call.task]));
  const shown = new Set(reviews.map(nameOf));
  return [
    ...reviews.map((review) => ({
      key: `review ${review.id}`,
      kind: /** @type {const} */ ("review"),
      agent: review.agent,
      since: review.since,
      task: own.get(nameOf(review)) ?? null,
      review,
    })),
    ...calls
      .filter((call) => !isReview(call) || !shown.has(nameOf(call)))
      .map((call) => ({
        key: `${call.kind} ${call.task} ${call.provider ?? call.since}`,
        kind: isReview(call) ? /** @type {const} */ ("look") : /** @type {const} */ ("sign-in"),
        agent: call.agent,
        since: call.since,
        task: call.task,
        provider: call.provider,
      })),
  ].sort((a, b) => (a.since < b.since ? -1 : 1));
}

/** @param {Call} call */
const isReview = (call) => call.kind === "review_required";
/** @param {{agent: string, since: string}} one */
const nameOf = (one) => `${one.agent} ${one.since}`;
