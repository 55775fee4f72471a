import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

import svelteConfig from "./svelte.config.js";

export default ts.config(
  { ignores: ["dist/", "node_modules/", "src/lib/api/schema.ts"] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  ...svelte.configs.prettier,
  { languageOptions: { globals: globals.browser } },
  {
    files: ["e2e/**", "scripts/**", "*.config.*"],
    languageOptions: { globals: globals.node },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: {
      // The policy of the server forbids inline styles; a stylesheet class does the same.
      "svelte/no-inline-styles": "error",
      "svelte/no-at-html-tags": "error",
      "svelte/require-each-key": "error",
      // What is shown is replaced as a whole (`$state.raw`); what is gathered behind it need not be watched.
      "svelte/prefer-svelte-reactivity": "off",
    },
  },
);
