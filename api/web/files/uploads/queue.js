/** The uploads of this page: which of them goes next, and what becomes of each. */

import { computed, signal } from "../../shared/preact.js";

/** @typedef {import("./upload.js").Upload} Upload */
/** @typedef {{progress: (sent: number) => void, done: (itemId: string) => void, problem: (problem: any) => void}} Listener */
/** @typedef {{stop: () => void, discard: () => void}} Sending `stop` keeps what was sent, `discard` does not */
/** @typedef {{choice: "rename" | "replace" | "skip", forAll: boolean}} Answer */

/**
 * @typedef {object} Means
 * @property {(upload: Upload, listener: Listener) => Sending} send
 * @property {(upload: Upload, others: number) => Promise<Answer>} ask what to do about a taken name; `others` of the batch may meet it too
 * @property {() => Promise<boolean>} signIn
 * @property {(upload: Upload) => void} [onOver]
 */

const AT_ONCE = 3;

export class UploadQueue {
  /** @param {Means} means */
  constructor(means) {
    this.means = means;
    /** @type {import("../../vendor/signals.js").Signal<Upload[]>} */
    this.list = signal([]);
    this.totals = computed(() => totalsOf(this.list.value));
    /** @type {Map<Upload, Sending>} */
    this.sending = new Map();
    this.asked = Promise.resolve();
  }

  /** @param {Upload[]} uploads */
  add(uploads) {
    this.list.value = [...this.list.peek(), ...uploads];
    this.go();
  }

  /** Send what waits, as far as there is room. */
  go() {
    const busy = new Set([...this.sending.keys()].map((upload) => upload.target));
    for (const upload of this.list.peek()) {
      if (this.sending.size >= AT_ONCE) return;
      if (upload.state.peek() !== "waiting" || busy.has(upload.target)) continue;
      busy.add(upload.target);
      this.begin(upload);
    }
  }

  /** @param {Upload} upload */
  begin(upload) {
    upload.state.value = "sending";
    const isCurrent = () => this.sending.get(upload) === sending;
    const sending = this.means.send(upload, {
      progress: (sent) => isCurrent() && (upload.sent.value = sent),
      done: (itemId) => {
        if (!isCurrent()) return;
        upload.itemId = itemId;
        upload.sent.value = upload.size;
        this.end(upload, "done");
      },
      problem: (problem) => isCurrent() && this.meet(upload, problem),
    });
    this.sending.set(upload, sending);
  }

  /**
   * Leave the sending to others; the upload is in another state from now on.
   * @param {Upload} upload
   * @param {import("./upload.js").State} state
   */
  end(upload, state) {
    this.sending.delete(upload);
    upload.state.value = state;
    if (upload.isOver) this.means.onOver?.(upload);
    this.go();
  }

  /**
   * @param {Upload} upload
   * @param {any} problem a `Problem`
   */
  meet(upload, problem) {
    upload.problem.value = problem;
    if (problem.status === 0 || problem.status === 429) this.end(upload, "offline");
    else if (problem.code === "name_conflict" && upload.onConflict === "fail") this.choose(upload);
    else if (problem.status === 401) this.signInAgain(upload);
    else this.end(upload, "failed");
  }

  /** One question at a time; the other uploads go on. @param {Upload} upload */
  choose(upload) {
    upload.sent.value = 0;
    this.end(upload, "asking");
    this.asked = this.asked.then(async () => {
      if (upload.state.peek() !== "asking") return;
      const known = upload.batch.choice;
      const others = this.list
        .peek()
        .filter((one) => one !== upload && one.batch === upload.batch && !one.isOver).length;
      const answer = known ? { choice: known, forAll: true } : await this.means.ask(upload, others);
      if (answer.forAll) upload.batch.choice = answer.choice;
      if (upload.state.peek() !== "asking") return;
      if (answer.choice === "skip") this.end(upload, "skipped");
      else this.again(upload, answer.choice);
    });
  }

  /** @param {Upload} upload */
  async signInAgain(upload) {
    this.end(upload, "asking");
    const isSignedIn = await this.means.signIn().catch(() => false);
    if (upload.state.peek() !== "asking") return;
    if (isSignedIn) this.again(upload);
    else this.end(upload, "failed");
  }

  /** @param {Upload} upload @param {import("./upload.js").OnConflict} [onConflict] */
  again(upload, onConflict = upload.onConflict) {
    upload.onConflict = onConflict;
    upload.problem.value = null;
    upload.state.value = "waiting";
    this.go();
  }

  /** The service can be reached again, as it seems. */
  wake() {
    for (const upload of this.list.peek()) if (upload.state.peek() === "offline") this.again(upload);
  }

  /** @param {Upload} upload */
  pause(upload) {
    if (!["waiting", "sending", "offline"].includes(upload.state.peek())) return;
    this.sending.get(upload)?.stop();
    this.end(upload, "paused");
  }

  /** Go on with what is paused, or try again what failed. @param {Upload} upload */
  resume(upload) {
    if (["paused", "failed", "offline"].includes(upload.state.peek())) this.again(upload);
  }

  /** @param {Upload} upload */
  cancel(upload) {
    if (upload.isOver) return;
    this.sending.get(upload)?.discard();
    this.end(upload, "cancelled");
  }

  /** Go on with an upload whose file the person chose again. @param {Upload} upload @param {File} file */
  found(upload, file) {
    upload.file = file;
    if (upload.state.peek() === "lost") this.again(upload);
  }

  /** @param {"pause" | "resume" | "cancel"} action */
  all(action) {
    for (const upload of this.list.peek()) if (!upload.isOver) this[action](upload);
  }

  /** Forget what is over. */
  clear() {
    this.list.value = this.list.peek().filter((upload) => !upload.isOver);
  }
}

/**
 * Return how far all uploads are; bytes of what was given up count for nothing.
 * @param {Upload[]} list
 */
export function totalsOf(list) {
  const totals = { count: 0, done: 0, failed: 0, active: 0, paused: 0, lost: 0, size: 0, sent: 0 };
  for (const upload of list) {
    const state = upload.state.value;
    if (state === "cancelled" || state === "skipped") continue;
    totals.count += 1;
    totals.size += upload.size;
    totals.sent += Math.min(upload.sent.value, upload.size);
    if (state === "done" || state === "failed" || state === "paused" || state === "lost") totals[state] += 1;
    else totals.active += 1;
  }
  return totals;
}
