/** The sections of the settings, by name: how each is loaded, and what the command palette offers of them. */

import { go } from "../shared/location.js";
import { isAdministrator } from "../shared/session.js";
import { loadTexts, text } from "../shared/texts/texts.js";

await loadTexts(import.meta.url);

/** @type {Record<string, () => Promise<any>>} */
const SECTIONS = {
  profile: () => import("./profile/profile.js").then((module) => module.Profile),
  security: () => import("./security/security.js").then((module) => module.Security),
  keys: () => import("./keys/keys.js").then((module) => module.Keys),
  connect: () => import("./connect/connect.js").then((module) => module.Connect),
  mcp: () => import("./servers/servers.js").then((module) => module.Servers),
  assistants: () => import("./assistants/assistants.js").then((module) => module.Assistants),
  memory: () => import("./memory/memory.js").then((module) => module.Memory),
  grants: () => import("./grants/grants.js").then((module) => module.Grants),
  notices: () => import("./notices/notices.js").then((module) => module.Notices),
};

/** Sections for administrators alone. @type {Record<string, () => Promise<any>>} */
const ADMINISTRATION = {
  people: () => import("./people/people.js").then((module) => module.People),
  groups: () => import("./groups/groups.js").then((module) => module.Groups),
};

/** Return the sections that the person may open. */
export const sections = () => (isAdministrator.value ? { ...SECTIONS, ...ADMINISTRATION } : SECTIONS);

/** Return a command of the palette for each section. @returns {import("../shared/commands.js").Command[]} */
export const sectionCommands = () =>
  Object.keys(sections()).map((name) => ({
    id: `settings.${name}`,
    icon: "settings",
    title: `${text("settings.title")}: ${text(`settings.section.${name}`)}`,
    run: () => go(["settings", name]),
  }));
