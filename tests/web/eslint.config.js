// The page's rules: no unused names, no console, and rooms that know each other in one direction only.
import js from "@eslint/js";
import globals from "globals";

const ROOMS = ["app", "files", "chat", "approvals", "plan", "changes", "settings"];
/** The rooms that a room may import, besides itself, `shared` and `vendor`. */
const MAY_IMPORT = { app: ROOMS, chat: ["approvals", "plan", "changes"] };

const layers = ROOMS.map((room) => {
  const closed = ROOMS.filter((other) => other !== room && !(MAY_IMPORT[room] ?? []).includes(other));
  return {
    files: [`api/web/${room}/**/*.js`],
    rules: { "no-restricted-imports": ["error", { patterns: closed.map(restricted) }] },
  };
});

function restricted(room) {
  return { regex: `^(\\.\\./)+${room}/`, message: `This room does not know ${room}.` };
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
      "no-restricted-syntax": [
        "error",
        {
          selector: "AssignmentExpression[left.property.name='innerHTML']",
          message: "Markup goes through shared/markdown.",
        },
        { selector: "Identifier[name='insertAdjacentHTML']", message: "Markup goes through shared/markdown." },
      ],
      eqeqeq: "error",
      "prefer-const": "error",
      "object-shorthand": "error",
      complexity: ["error", 14],
      "max-lines": ["error", 500],
    },
  },
  {
    files: ["api/web/shared/**/*.js"],
    rules: { "no-restricted-imports": ["error", { patterns: ROOMS.map(restricted) }] },
  },
  {
    files: ["tests/web/unit/**/*.js"],
    languageOptions: { globals: { ...globals.node } },
  },
  ...layers,
];
