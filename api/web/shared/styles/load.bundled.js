/** A bundle has all styles from the beginning: nothing is left to be loaded. */

/**
 * @param {string} module
 * @param {string} path
 * @returns {Promise<void>}
 */
export async function loadStyles(module, path) {
  void [module, path];
}
