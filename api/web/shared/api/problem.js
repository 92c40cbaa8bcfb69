/** What went wrong with a request, in the words of the service (problem+json, RFC 9457). */

/**
 * @typedef {object} ProblemBody
 * @property {string} [code]
 * @property {string} [detail]
 * @property {string} [hint]
 * @property {Record<string, any>} [details]
 */

export class Problem extends Error {
  /**
   * @param {number} status the HTTP status; 0 if the service was not reached
   * @param {ProblemBody} body
   * @param {{requestId?: string | null, retryAfter?: number | null}} [facts]
   */
  constructor(status, body, facts = {}) {
    super(body.detail || body.code || String(status));
    this.name = "Problem";
    this.status = status;
    this.code = body.code || (status ? "http" : "offline");
    this.hint = body.hint || "";
    this.details = body.details || {};
    this.requestId = facts.requestId || "";
    /** Seconds to wait before another try, if the service named them. */
    this.retryAfter = facts.retryAfter ?? null;
  }

  /** Say whether the service could not be reached at all. */
  get isOffline() {
    return this.status === 0;
  }
}

/**
 * Return what a response that is no success says.
 * @param {Response} response
 */
export async function problemOf(response) {
  /** @type {ProblemBody} */
  let body = {};
  if ((response.headers.get("content-type") || "").includes("json")) {
    body = await response.json().catch(() => ({}));
  }
  const wait = Number(response.headers.get("retry-after"));
  return new Problem(response.status, body, {
    requestId: response.headers.get("x-request-id"),
    retryAfter: Number.isFinite(wait) && wait > 0 ? wait : null,
  });
}
