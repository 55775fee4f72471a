// Holds the build to its promises: small, all files our own, nothing inline (the server's content
// security policy would refuse it).
//
// Two things are measured, compressed: the scripts of the first load, which is what the start page
// asks for before any page of the dashboard is shown, and what each part that is fetched later adds to
// that. Every script must belong to one of the two.
import { readdir, readFile, rm } from "node:fs/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const FIRST_BUDGET = 45_000;
const PART_BUDGET = 45_000;

const manifest = JSON.parse(await readFile(`${dist}.vite/manifest.json`, "utf8"));
// What the binary carries is what browsers ask for.
await rm(`${dist}.vite`, { recursive: true });
const problems = [];
const sizes = {};
for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const file = relative(dist, `${entry.parentPath}/${entry.name}`);
  const bytes = await readFile(dist + file);
  const text = bytes.toString("utf8");
  sizes[file] = gzipSync(bytes).length;
  if (file.endsWith(".html") && /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i.test(text))
    problems.push(`${file} has an inline script, style or handler`);
  for (const [address] of text.matchAll(
    /(?:src|href)=["'](?:https?:)?\/\/[^"']+|url\(["']?(?:https?:)?\/\/[^)]+/g,
  ))
    problems.push(`${file} refers to another host: ${address}`);
}

/** The scripts that come with these parts, and what those import. */
function scripts(parts, found = new Set()) {
  for (const part of parts) {
    const { file, imports = [] } = manifest[part];
    if (found.has(file)) continue;
    found.add(file);
    scripts(imports, found);
  }
  return found;
}

function weight(files) {
  return [...files].reduce((sum, file) => sum + sizes[file], 0);
}

const names = Object.keys(manifest);
const first = scripts(names.filter((name) => manifest[name].isEntry));
const later = names
  .filter((name) => manifest[name].isDynamicEntry)
  .map((name) => ({ name, files: [...scripts([name])].filter((file) => !first.has(file)) }))
  .map(({ name, files }) => ({ name, files, bytes: weight(files) }))
  .sort((a, b) => b.bytes - a.bytes);
const loaded = new Set([...first, ...later.flatMap(({ files }) => files)]);
for (const file of Object.keys(sizes))
  if (file.endsWith(".js") && !loaded.has(file)) problems.push(`nothing loads ${file}`);
if (weight(first) > FIRST_BUDGET)
  problems.push(`the first load is ${weight(first)} bytes; the budget is ${FIRST_BUDGET}`);
for (const { name, bytes } of later)
  if (bytes > PART_BUDGET)
    problems.push(`${name} adds ${bytes} bytes; the budget is ${PART_BUDGET}`);

for (const problem of problems) console.error(problem);
const style = weight(Object.keys(sizes).filter((file) => file.endsWith(".css")));
console.log(`scripts, compressed: first load ${weight(first)} bytes of ${FIRST_BUDGET}`);
console.log(`what a page adds, of ${PART_BUDGET}:`);
for (const { name, bytes } of later) console.log(`  ${name} ${bytes}`);
console.log(`all scripts ${weight(loaded)} bytes, all styles ${style} bytes`);
process.exit(problems.length > 0 ? 1 : 0);
