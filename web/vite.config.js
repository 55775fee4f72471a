import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// `npm run dev` talks to the mock of `npm run mock`, or to a real server named in HOSTLER_ADDR.
const backend = process.env.HOSTLER_ADDR ?? "http://127.0.0.1:7480";

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: "es2022",
    // The server's content security policy allows files of its own only: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Says what loads what; scripts/check-dist.mjs reads it and takes it away.
    manifest: true,
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/version"].map((path) => [path, { target: backend, secure: false }]),
    ),
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
