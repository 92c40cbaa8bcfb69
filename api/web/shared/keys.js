/** Keys of a keyboard. */

/** Say whether an input method composes: such a key is its own. @param {KeyboardEvent} event */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

const isApple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** Say whether the key that means "command" is down: Ctrl, or ⌘ on Apple's machines. @param {KeyboardEvent | MouseEvent} event */
export const isCommand = (event) => (isApple ? event.metaKey : event.ctrlKey);

/** The name of a shortcut as it stands on this keyboard. @param {string} keys such as "Ctrl+K" */
export const keysLabel = (keys) => (isApple ? keys.replace("Ctrl+", "⌘").replace("Shift+", "⇧") : keys);

/** Say whether the person types into a field. @param {EventTarget | null} target */
export function isTyping(target) {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
