// Makes the folder that operators install: one file with everything that the
// plugin needs, so that its sum covers all of it, and the manifest with the sum.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const folder = "dist/wordcount";
await build({
  entryPoints: ["src/main.ts"],
  outfile: `${folder}/main.cjs`,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  loader: { ".proto": "text" },
});
const sum = createHash("sha256").update(readFileSync(`${folder}/main.cjs`)).digest("hex");
writeFileSync(`${folder}/plugin.yaml`, `${readFileSync("plugin.yaml", "utf8")}    sha256: ${sum}\n`);
