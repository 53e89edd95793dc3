/**
 * Files go to the file store itself, by an address that the API signs, and come from there.
 */

import { get, post } from "./api.js";
import { Unreachable, UploadFailed } from "./errors.js";
import { safeLink } from "./links.js";
import { undisturbed } from "./session.js";

const UNTYPED = "application/octet-stream";
/** It lies there already: an earlier try arrived, and only its answer was lost. */
const LIES_THERE = 412;
const TRIES = 3;

/**
 * Put *file* into the files of *task*, and say what an input names it by. Raises what the API raises, and UploadFailed.
 * @param {string} task
 * @param {File} file
 * @param {{onProgress: (share: number) => void, signal: AbortSignal}} how
 * @returns {Promise<{mimeType: string, file: string, sizeBytes: number}>}
 */
export function upload(task, file, { onProgress, signal }) {
  return undisturbed(uploaded(task, file, onProgress, signal));
}

/** @param {string} task @param {File} file @param {(share: number) => void} onProgress @param {AbortSignal} signal */
async function uploaded(task, file, onProgress, signal) {
  const key = crypto.randomUUID();
  const mimeType = file.type || UNTYPED;
  const wanted = { name: file.name, mimeType, sizeBytes: file.size };
  for (let tried = 1; ; tried += 1) {
    // The same key gives the same place, with a fresh address.
    const { body } = await post(`/v1/tasks/${task}/files`, wanted, { key, signal });
    try {
      await put(body.upload, file, onProgress, signal);
      return { mimeType, file: body.file, sizeBytes: file.size };
    } catch (error) {
      if (!(error instanceof Unreachable) || tried === TRIES) throw error;
    }
  }
}

/**
 * @param {{method: string, url: string, headers: Record<string, string>}} where
 * @param {File} file
 * @param {(share: number) => void} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function put({ method, url, headers }, file, onProgress, signal) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
    request.onload = () => {
      if (request.status < 300 || request.status === LIES_THERE) done();
      else fail(new UploadFailed(`HTTP ${request.status}`));
    };
    request.onerror = () => fail(new Unreachable(url));
    request.onabort = () => fail(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/**
 * Have the browser fetch the file that an entry of *task* names, as it was *at* that entry's instant.
 * @param {string} task
 * @param {string} uri
 * @param {string | undefined} at
 */
export async function download(task, uri, at) {
  const query = new URLSearchParams({ ref: uri, ...(at ? { at } : {}) });
  const { body } = await get(`/v1/tasks/${task}/files?${query}`);
  const link = safeLink(body.url);
  if (!link) throw new UploadFailed("address");
  const anchor = document.createElement("a");
  anchor.href = link.href;
  anchor.rel = "noopener noreferrer";
  anchor.download = nameOf(uri);
  anchor.click();
}

/** What people call the file at *uri*. @param {string} uri */
export const nameOf = (uri) => uri.slice(uri.lastIndexOf("/") + 1) || uri;
