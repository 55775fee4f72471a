// Holds the build to its promises: small, all files our own, nothing inline (the server's content
// security policy would refuse it).
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url);
const JS_BUDGET = 80_000;

const files = (await readdir(dist, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`);
const problems = [];
let script = 0;
let style = 0;
for (const file of files) {
  const bytes = await readFile(file);
  const text = bytes.toString("utf8");
  if (file.endsWith(".js")) script += gzipSync(bytes).length;
  if (file.endsWith(".css")) style += gzipSync(bytes).length;
  if (file.endsWith(".html") && /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i.test(text))
    problems.push(`${file} has an inline script, style or handler`);
  for (const [address] of text.matchAll(
    /(?:src|href)=["'](?:https?:)?\/\/[^"']+|url\(["']?(?:https?:)?\/\/[^)]+/g,
  ))
    problems.push(`${file} refers to another host: ${address}`);
}
if (script > JS_BUDGET)
  problems.push(`scripts are ${script} bytes compressed; the budget is ${JS_BUDGET}`);
for (const problem of problems) console.error(problem);
console.log(`compressed: scripts ${script} bytes of ${JS_BUDGET}, styles ${style} bytes`);
process.exit(problems.length > 0 ? 1 : 0);
