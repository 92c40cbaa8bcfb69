/** What is loaded when a section opens. */

import { Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useState } from "../../shared/preact.js";

/**
 * Load something, and again when `reload` is called; what was there stays meanwhile.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {{value: T | undefined, error: unknown, reload: () => Promise<void>, setValue: (value: T) => void}}
 */
export function useLoaded(load) {
  const [state, setState] = useState(/** @type {{value?: T, error?: unknown}} */ ({}));
  const reload = () =>
    load().then(
      (value) => setState({ value }),
      (error) => setState((before) => ({ ...before, error })),
    );
  useEffect(() => {
    reload();
  }, []);
  return { value: state.value, error: state.error, reload, setValue: (value) => setState({ value }) };
}

/**
 * Draws what was loaded; until then that it is being loaded, or why it can't be.
 * @param {{of: ReturnType<typeof useLoaded>, children: (value: any) => any}} properties
 */
export function Loaded({ of: { value, error, reload }, children }) {
  if (error) return html`<${Failure} error=${error} onRetry=${reload} />`;
  return value === undefined ? html`<${Loading} />` : children(value);
}
