// Rules of ESLint for the scripts of the HTML pages; scripts/lint_pages.sh runs it.

const js = require("@eslint/js");
const globals = require("globals");

module.exports = [
  js.configs.recommended,
  {
    files: ["src/render/page/*.js", "src/serve/page/*.js", "src/export/page/*.js", "src/export/engine/*.js", "scripts/*.mjs"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: { ...globals.browser, ...globals.worker, process: "readonly" } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "eqeqeq": "error",
      "max-lines-per-function": ["error", 60],
      "no-shadow": "error",
      "no-undef": "error",
      "no-unused-vars": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
