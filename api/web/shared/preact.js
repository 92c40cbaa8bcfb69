/** One place to take components and signals from. */

import { h } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { Component, Fragment, createContext, render } from "../vendor/preact.js";
export {
  useCallback,
  useContext,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../vendor/hooks.js";
export {
  batch,
  computed,
  effect,
  signal,
  untracked,
  useComputed,
  useSignal,
  useSignalEffect,
} from "../vendor/signals.js";

/** Make elements from a template: `html`<p>${text}</p>``. */
export const html = htm.bind(h);
