/** Whether somebody looks at this tab. A browser has six connections to a service for all its tabs. */

/**
 * Resolve when the tab is in view, or `abort` is aborted.
 * @param {AbortSignal} abort
 * @returns {Promise<void>}
 */
export function inView(abort) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !abort.aborted) return;
      document.removeEventListener("visibilitychange", look);
      abort.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    abort.addEventListener("abort", look);
    look();
  });
}

/**
 * Return a signal that is aborted with `abort`, and when the tab is out of view once `release` was called. Call `end`
 * when nothing depends on the signal any more.
 * @param {AbortSignal} abort
 */
export function untilOutOfView(abort) {
  const until = new AbortController();
  let isReleased = false;
  const look = () => {
    if (abort.aborted || (isReleased && document.hidden)) until.abort();
  };
  document.addEventListener("visibilitychange", look);
  abort.addEventListener("abort", look);
  look();
  return {
    signal: until.signal,
    release() {
      isReleased = true;
      look();
    },
    end() {
      document.removeEventListener("visibilitychange", look);
      abort.removeEventListener("abort", look);
    },
  };
}
