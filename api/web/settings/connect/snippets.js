/** What other programs want to be told, to work in the drive. */

/**
 * @typedef {object} Program
 * @property {string} id
 * @property {string} name its own name, the same in all languages
 * @property {"mcp" | "files"} kind
 * @property {"mac" | "windows" | undefined} [system]
 * @property {(origin: string, key: string) => string} snippet
 */

/** @param {unknown} value */
const json = (value) => JSON.stringify(value, null, 2);
/** @param {string} key */
const bearer = (key) => ({ Authorization: `Bearer ${key}` });
/** @param {string} origin */
const secure = (origin) => origin.startsWith("https:");

/** @type {Program[]} */
export const PROGRAMS = [
  {
    id: "claude_code",
    name: "Claude Code",
    kind: "mcp",
    snippet: (origin, key) =>
      `claude mcp add --transport http drive ${origin}/mcp --header "Authorization: Bearer ${key}"`,
  },
  {
    id: "claude_desktop",
    name: "Claude Desktop",
    kind: "mcp",
    snippet: (_, key) =>
      json({ mcpServers: { drive: { command: "drive-agent", args: ["mcp"], env: { DRIVE_API_KEY: key } } } }),
  },
  {
    id: "cursor",
    name: "Cursor",
    kind: "mcp",
    snippet: (origin, key) => json({ mcpServers: { drive: { url: `${origin}/mcp`, headers: bearer(key) } } }),
  },
  {
    id: "vs_code",
    name: "VS Code (Copilot)",
    kind: "mcp",
    snippet: (origin, key) =>
      json({ servers: { drive: { type: "http", url: `${origin}/mcp`, headers: bearer(key) } } }),
  },
  { id: "finder", name: "Finder", kind: "files", snippet: (origin) => `${origin}/dav/` },
  {
    id: "windows",
    name: "Windows",
    kind: "files",
    snippet: (origin, key) => `net use Z: ${origin}/dav /user:me ${key}`,
  },
  {
    id: "rclone",
    name: "rclone",
    kind: "files",
    snippet: (origin, key) =>
      `rclone config create drive webdav url ${origin}/dav vendor owncloud user me pass ${key} --obscure`,
  },
  {
    id: "gnome",
    name: "GNOME Files",
    kind: "files",
    snippet: (origin) => `${origin.replace(/^http/, "dav")}/dav`,
  },
];

/** Say whether a program can't be used, because it sends a key over https only. @param {string} id @param {string} origin */
export const wantsEncryption = (id, origin) => id === "windows" && !secure(origin);

/** The scopes that a key for a program is made with: those of them that the person has. */
export const SCOPES_BY_KIND = { mcp: ["read", "write"], files: ["read", "write", "delete"] };
