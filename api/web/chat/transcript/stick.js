/** Staying at the bottom of what grows, unless the person scrolled away from it. */

const NEAR = 48;

/**
 * @param {HTMLElement} scroller
 * @param {HTMLElement} content inside it
 * @param {(isAway: boolean) => void} onAway
 */
export function stickToBottom(scroller, content, onAway) {
  let sticks = true;
  const distance = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  const down = () => (scroller.scrollTop = scroller.scrollHeight);
  const put = (/** @type {boolean} */ value) => {
    if (sticks !== value) onAway(!value);
    sticks = value;
  };
  // The person's own scrolling decides; what grows below moves nothing by itself.
  const scrolled = () => put(distance() < NEAR);
  const away = (/** @type {WheelEvent} */ event) => event.deltaY < 0 && distance() > 0 && put(false);
  scroller.addEventListener("scroll", scrolled, { passive: true });
  scroller.addEventListener("wheel", away, { passive: true });
  const watching = new ResizeObserver(() => sticks && down());
  watching.observe(content);
  watching.observe(scroller);
  return {
    /** @param {boolean} [smooth] */
    toBottom: (smooth = false) => {
      put(true);
      if (smooth) scroller.scrollTo({ top: scroller.scrollHeight, behavior: "smooth" });
      else down();
    },
    end: () => {
      watching.disconnect();
      scroller.removeEventListener("scroll", scrolled);
      scroller.removeEventListener("wheel", away);
    },
  };
}
