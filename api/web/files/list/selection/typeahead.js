/** Finding an item by typing the beginning of its name. */

const FORGETS_MS = 900;

/** What was typed until now; a pause begins anew. */
export class Typeahead {
  #typed = "";
  #last = -Infinity;

  /** Say whether letters were typed a moment ago, so that a space belongs to them. @param {number} now */
  isTyping(now) {
    return this.#typed !== "" && now - this.#last < FORGETS_MS;
  }

  /** Begin anew, as another key was pressed. */
  forget() {
    this.#typed = "";
  }

  /**
   * Return the index of the item that is meant, or -1.
   * @param {string} letter
   * @param {Array<{name: string}>} items
   * @param {number} active where to begin
   * @param {number} now in milliseconds
   */
  find(letter, items, active, now) {
    this.#typed = this.isTyping(now) ? this.#typed + letter : letter;
    this.#last = now;
    const isRepeated = [...this.#typed].every((one) => one === letter);
    const wanted = (isRepeated ? letter : this.#typed).toLowerCase();
    // One letter again and again goes from one item to the next; a longer word may stay where it is.
    const from = isRepeated ? active + 1 : Math.max(0, active);
    for (let step = 0; step < items.length; step++) {
      const index = (from + step) % items.length;
      if (items[index].name.toLowerCase().startsWith(wanted)) return index;
    }
    return -1;
  }
}
