/**
 * The three ways in which nothing comes of a request.
 */

/** @import { Problem } from "./problem.js" */

/** No answer came: nobody knows whether the request arrived. */
export class Unreachable extends Error {}

/** The server said no. */
export class Refused extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail ?? `HTTP ${problem.status}`);
    this.problem = problem;
  }
}

/** The file store did not take a file, or did not say where one is. */
export class UploadFailed extends Error {}
