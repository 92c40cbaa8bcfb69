// The page's rules: no unused names, no console, and rooms that know each other in one direction only.
import js from "@eslint/js";
import globals from "globals";

const ROOMS = ["app", "files", "chat", "approvals", "plan", "changes", "settings"];
/** The rooms that a room may import, besides itself, `shared` and `vendor`. */
const MAY_IMPORT = { app: ROOMS, chat: ["approvals", "plan", "changes"], approvals: ["files"] };

/** What makes elements of text: done in one place, where it is cleaned. */
const MARKUP_MODULES = ["api/web/shared/markdown/**/*.js"];
const WORDS = "Markup becomes elements in shared/markdown alone.";
const NO_MARKUP = [
  { selector: "MemberExpression[property.name=/^(inner|outer)HTML$/]", message: WORDS },
  { selector: "Identifier[name=/^(insertAdjacentHTML|setHTMLUnsafe|createContextualFragment)$/]", message: WORDS },
  { selector: "Identifier[name='dangerouslySetInnerHTML']", message: WORDS },
  { selector: "TemplateElement[value.raw=/(dangerouslySetInnerHTML|srcdoc)=/]", message: WORDS },
  { selector: "MemberExpression[object.name='document'][property.name=/^write(ln)?$/]", message: WORDS },
];

const layers = [...ROOMS, "shared"].map((room) => {
  const closed = ROOMS.filter((other) => other !== room && !(MAY_IMPORT[room] ?? []).includes(other));
  return {
    files: [`api/web/${room}/**/*.js`],
    rules: {
      "no-restricted-imports": ["error", { patterns: closed.map(restricted) }],
      "no-restricted-syntax": ["error", ...NO_MARKUP, ...closed.map(restrictedLater)],
    },
  };
});

function restricted(room) {
  return { regex: beginning(room), message: `This room does not know ${room}.` };
}

/** The same of `import(...)`. */
function restrictedLater(room) {
  return {
    selector: `ImportExpression[source.value=/${beginning(room).replaceAll("/", "\\u002f")}/]`,
    message: `This room does not know ${room}.`,
  };
}

function beginning(room) {
  return `^(\\.\\./)+${room}/`;
}

export default [
  { ignores: ["api/web/vendor/**"] },
  js.configs.recommended,
  {
    files: ["api/web/**/*.js", "tests/web/**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: { ...globals.browser } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-console": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "prefer-const": "error",
      "object-shorthand": "error",
      complexity: ["error", 14],
      "max-lines": ["error", 500],
    },
  },
  {
    files: ["tests/web/unit/**/*.js"],
    languageOptions: { globals: { ...globals.node } },
  },
  ...layers,
  {
    files: MARKUP_MODULES,
    rules: { "no-restricted-syntax": ["error", ...ROOMS.map(restrictedLater)] },
  },
];
