// Bundles the charting library into one script, and gathers the licences of all that is in it.
import { build } from "esbuild";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const vendor = "../../src/mixoracle/report/vendor";
const { metafile } = await build({
  entryPoints: ["marks.js"],
  outfile: `${vendor}/plot.js`,
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plot",
  target: "es2020",
  // Licences stand in a file of their own; plain ASCII reads the same in any encoding.
  legalComments: "none",
  charset: "ascii",
  metafile: true,
});

const packages = new Set();
for (const [path, { bytesInOutput }] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
  const held = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (held && bytesInOutput) packages.add(held[1]);
}
const licences = [...packages].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync(`${vendor}/LICENCES.txt`, licences.join(`\n${"-".repeat(80)}\n\n`));
