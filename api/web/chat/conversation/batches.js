/** Events that come fast are taken up once for each frame that the browser draws. */

/** @typedef {import("../../shared/api/event_stream.js").StreamEvent} StreamEvent */
/** @typedef {{key: string, event: StreamEvent}} TurnEvent an event, and the key of its turn */

const WHILE_HIDDEN = 250;

/**
 * @param {(events: TurnEvent[]) => void} take
 * @returns {{add: (event: TurnEvent) => void, flush: () => void, drop: () => void}}
 */
export function eventBatches(take) {
  /** @type {TurnEvent[]} */
  let waiting = [];
  let cancel = () => {};
  const flush = () => {
    cancel();
    cancel = () => {};
    const events = waiting;
    waiting = [];
    if (events.length) take(events);
  };
  const schedule = () => {
    // A page that is not shown draws no frames.
    if (document.hidden) {
      const timer = setTimeout(flush, WHILE_HIDDEN);
      cancel = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(flush);
      cancel = () => cancelAnimationFrame(frame);
    }
  };
  return {
    add: (event) => {
      waiting.push(event);
      if (waiting.length === 1) schedule();
    },
    flush,
    drop: () => {
      cancel();
      waiting = [];
    },
  };
}
