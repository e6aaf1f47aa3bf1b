/**
 * Starts the page.
 */
import { createRoot } from "react-dom/client"
import { App } from "./components/App.tsx"
import "./styles/index.css"

const root = document.getElementById("root")
if (root !== null) createRoot(root).render(<App />)
