/** Requests to the service. Each goes to our own origin with the session's cookie. */

import { signal } from "../preact.js";
import { language } from "../texts/language.js";
import { Problem, problemOf } from "./problem.js";

/** Whether the last request reached the service. */
export const online = signal(true);

/** @type {() => Promise<boolean>} */
let askToSignIn = async () => false;

/**
 * Name what asks the person to sign in again; it answers whether they did, and the request is then repeated.
 * @param {() => Promise<boolean>} ask
 */
export function whenSignedOut(ask) {
  askToSignIn = ask;
}

/** @type {() => Promise<boolean>} */
let askToConfirm = async () => false;

/**
 * Name what has the person confirm who they are; it answers whether they did, and the request is then repeated.
 * @param {() => Promise<boolean>} ask
 */
export function whenConfirming(ask) {
  askToConfirm = ask;
}

/**
 * @typedef {object} Options
 * @property {Record<string, any>} [query] a list stands there once for each value; undefined, null and "" are left out
 * @property {any} [json] the body as JSON
 * @property {BodyInit} [body] the body as bytes
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {string} [ifMatch] the etag that the item has to have
 * @property {string} [idempotencyKey] makes a repeated request happen once
 * @property {boolean} [anonymous] nobody is asked to sign in
 */

/**
 * Return the address of a path with its query.
 * @param {string} path
 * @param {Record<string, any>} [query]
 */
export function address(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") parameters.append(name, String(one));
    }
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * Send a request and return the response, if it is a success. Throws `Problem`, and `AbortError` when it is aborted.
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<Response>}
 */
export async function send(method, path, options = {}) {
  const response = await reach(method, path, options);
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401 && !options.anonymous && (await askToSignIn())) return send(method, path, options);
  if (problem.code === "fresh_proof_needed" && (await askToConfirm())) return send(method, path, options);
  throw problem;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 */
async function reach(method, path, options) {
  try {
    const response = await fetch(address(path, options.query), {
      method,
      headers: headersOf(options),
      body: options.json === undefined ? options.body : JSON.stringify(options.json),
      signal: options.signal,
      credentials: "same-origin",
    });
    online.value = true;
    compareClocks(response);
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    online.value = false;
    throw new Problem(0, {});
  }
}

/** The service's clock against this machine's, in milliseconds; less than the header's precision is no difference. */
let ahead = 0;
const PRECISION = 5000;

/** @param {Response} response */
function compareClocks(response) {
  const difference = Date.parse(response.headers.get("date") ?? "") - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) > PRECISION ? difference : 0;
}

/** The time of the service, in milliseconds since 1970: its moments are told by it, and clocks differ. */
export const serviceTime = () => Date.now() + ahead;

/** @param {Options} options */
function headersOf(options) {
  /** @type {Record<string, string>} */
  const headers = { "accept-language": language.value, ...options.headers };
  if (options.json !== undefined) headers["content-type"] = "application/json";
  if (options.ifMatch) headers["if-match"] = options.ifMatch;
  if (options.idempotencyKey) headers["idempotency-key"] = options.idempotencyKey;
  return headers;
}

/**
 * Send a request and return the JSON of its answer; null where there is none.
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, options) {
  const response = await send(method, path, options);
  return response.status === 204 || response.headers.get("content-length") === "0" ? null : response.json();
}

/** @param {string} path @param {Record<string, any>} [query] @param {Options} [options] */
export const get = (path, query, options) => call("GET", path, { ...options, query });
/** @param {string} path @param {any} [json] @param {Options} [options] */
export const post = (path, json, options) => call("POST", path, { ...options, json });
/** @param {string} path @param {any} json @param {Options} [options] */
export const patch = (path, json, options) => call("PATCH", path, { ...options, json });
/** @param {string} path @param {any} [json] @param {Options} [options] */
export const put = (path, json, options) => call("PUT", path, { ...options, json });
/** @param {string} path @param {Record<string, any>} [query] @param {Options} [options] */
export const remove = (path, query, options) => call("DELETE", path, { ...options, query });

/**
 * Return all items of a list that comes in pages.
 * @param {string} path
 * @param {Record<string, any>} [query]
 * @param {(items: any[], total: number | null) => void} [onPage] sees what there is so far, after each page
 * @param {AbortSignal} [abort]
 * @returns {Promise<any[]>}
 */
export async function getAll(path, query, onPage, abort) {
  /** @type {any[]} */
  let items = [];
  let cursor;
  do {
    const page = await get(path, { ...query, cursor }, { signal: abort });
    items = items.concat(page.items);
    cursor = page.cursor;
    onPage?.(items, page.total ?? null);
  } while (cursor);
  return items;
}
