// What modules of the page read from the browser when they are loaded.
globalThis.localStorage ??= { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
