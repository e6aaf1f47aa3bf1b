/**
 * Who may import whom. A package may import the ones named here and nothing else of ours;
 * apps, examples, bench and docs stand above all of them.
 */
const layers = {
  session: [],
  store: ["session"],
  ledger: ["session"],
  "storage-memory": ["session", "store", "ledger"],
  "storage-sqlite": ["session", "store", "ledger"],
  capabilities: ["session", "store"],
  engine: ["session", "store", "capabilities"],
  "ai-sdk": []
}

const code = "^(packages|apps|examples)/[^/]+/(src|page|test)|^bench/"

/** What loads where there is nothing of Node. */
const forBrowsers = [
  "^packages/session/src/(CanonicalRecord|Conversation|ConversationEntry|ConversationPrompt|Ids|Payload|Usage|Vocabulary)[.]ts$",
  "^packages/capabilities/src/(ConversationView|LiveUpdate)[.]ts$",
  "^apps/desk/(page/src|src/api)/"
]

export default {
  forbidden: [
    { name: "unresolvable", severity: "error", from: { path: code }, to: { couldNotResolve: true } },
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-dist", severity: "error", from: { path: code }, to: { path: "^packages/[^/]+/dist" } },
    { name: "no-orphans", severity: "error", from: { path: "/src/", orphan: true }, to: {} },
    { name: "no-app-import", severity: "error", from: { path: "^packages/" }, to: { path: "^(apps|examples|bench)/" } },
    {
      name: "no-test-code-in-src",
      severity: "error",
      from: { path: "^(packages|apps)/[^/]+/src", pathNot: "/testing/" },
      to: { path: "/(test|src/testing)/", pathNot: "^packages/engine/src/testing/" }
    },
    {
      // A page reads records and updates with the schemas and folds that wrote them.
      name: "browser-loadable",
      severity: "error",
      from: { path: forBrowsers },
      to: { path: "^(node:)?(buffer|crypto|fs|path)$", reachable: true }
    },
    ...Object.entries(layers).map(([name, allowed]) => ({
      name: `layer-${name}`,
      severity: "error",
      from: { path: `^packages/${name}/src` },
      to: { path: "^packages/([^/]+)/", pathNot: `^packages/(${[name, ...allowed].join("|")})/` }
    }))
  ],
  options: {
    tsConfig: { fileName: "tsconfig.base.json" },
    doNotFollow: { path: "node_modules" },
    // Where builds keep what they know: declarations of a page lie there as its sources do.
    exclude: { path: "/[.]cache/" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ["@colloquy/source", "import", "node", "default"],
      exportsFields: ["exports"]
    }
  }
}
