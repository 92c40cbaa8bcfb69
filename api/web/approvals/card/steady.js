/** Whether a card stands still in view: what appears or moves below a pointer is not what the person meant to press. */

import { useEffect, useState } from "../../shared/preact.js";

/** How long it has to stand still, milliseconds. */
const STILL_MS = 500;
const LOOK_MS = 100;
const WHOLE = 0.95;
const STEPS = Array.from({ length: 21 }, (_, step) => step / 20);
/** Pixels by which nobody presses something else. */
const NEAR = 4;

/**
 * Say whether an element has stood still, wholly in view, long enough to be pressed on purpose.
 * @param {{current: HTMLElement | null}} element
 * @param {any} [about] what it is about: another thing begins anew
 */
export function useSteady(element, about) {
  const [seen, setSeen] = useState({ about: undefined, isSteady: false });
  useEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    return watch(target, (isSteady) => {
      setSeen((old) => (old.about === about && old.isSteady === isSteady ? old : { about, isSteady }));
    });
  }, [about]);
  return seen.about === about && seen.isSteady;
}

/** @param {HTMLElement} target @param {(isSteady: boolean) => void} tell */
function watch(target, tell) {
  let isInView = false;
  let place = [NaN];
  let since = 0;
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    const now = placeOf(target);
    if (isElsewhere(now, place)) {
      since = performance.now();
      place = now;
    }
    const isSteady = isInView && performance.now() - since >= STILL_MS;
    tell(isSteady);
    if (!isSteady && isInView) timer = window.setTimeout(look, LOOK_MS);
  };
  const seen = new IntersectionObserver(
    (entries) => {
      // Several may come at once, the newest last.
      isInView = isSeen(/** @type {IntersectionObserverEntry} */ (entries.at(-1)));
      since = performance.now();
      look();
    },
    { threshold: STEPS },
  );
  seen.observe(target);
  const moved = new ResizeObserver(look);
  const parts = [target.closest(".approval"), target.closest(".transcript"), target.closest(".chat-body")];
  for (const part of parts) if (part) moved.observe(part);
  addEventListener("scroll", look, { capture: true, passive: true });
  return () => {
    clearTimeout(timer);
    seen.disconnect();
    moved.disconnect();
    removeEventListener("scroll", look, { capture: true });
  };
}

/** Say whether all of it is in view, or as much as its pane has room for. @param {IntersectionObserverEntry} entry */
function isSeen({ target, intersectionRect, boundingClientRect }) {
  const room = target.closest(".chat-body")?.clientHeight ?? innerHeight;
  return intersectionRect.height > 0 && intersectionRect.height >= WHOLE * Math.min(boundingClientRect.height, room);
}

/** @param {HTMLElement} target */
function placeOf(target) {
  const { left, top, width, height } = target.getBoundingClientRect();
  return [left, top, width, height];
}

/** @param {number[]} now @param {number[]} before */
const isElsewhere = (now, before) => now.some((side, at) => !(Math.abs(side - before[at]) <= NEAR));

/**
 * The attributes of a button that approves: it counts only while the card is steady, for a press that began on it.
 * @param {boolean} isReady
 * @param {() => void} act
 */
export function onPurpose(isReady, act) {
  return {
    "aria-disabled": isReady ? undefined : "true",
    // A key that is held down since before repeats itself: that is no answer.
    onKeyDown: (/** @type {KeyboardEvent} */ event) => event.repeat && event.preventDefault(),
    onClick: () => isReady && act(),
  };
}
