/**
 * The page's build: static files that the server serves, without an inline script (the content security policy allows
 * none).
 */
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ["@colloquy/source", "module", "browser", "development|production"] },
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    target: "es2024",
    // An inlined asset would be a data: URL, which the policy does not allow for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500
  }
})
