/** Styles of a part that is not in the first view. */

/** @type {Map<string, Promise<void>>} */
const loaded = new Map();

/**
 * Load a style sheet once; a module that is loaded when wanted awaits this before it draws.
 * @param {string} module its `import.meta.url`
 * @param {string} path from that module, such as "./styles/editor.css"
 */
export function loadStyles(module, path) {
  const address = new URL(path, module).href;
  const known = loaded.get(address);
  if (known) return known;
  const loading = new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    // Without its styles a part still works: it is drawn all the same.
    link.onload = link.onerror = () => resolve(undefined);
    document.head.append(link);
  });
  loaded.set(address, loading);
  return loading;
}
