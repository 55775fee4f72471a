// Writes src/lib/api/schema.ts from docs/reference/openapi.json; `--check` only says whether it would change.
import { readFile, writeFile } from "node:fs/promises";

import openapiTypescript, { astToString } from "openapi-typescript";

const source = new URL("../../docs/reference/openapi.json", import.meta.url);
const target = new URL("../src/lib/api/schema.ts", import.meta.url);
const heading = "// Generated from docs/reference/openapi.json by `npm run gen`; do not edit.\n\n";

const schema = JSON.parse(await readFile(source, "utf8"));
// Every error is the one Problem; repeating it under each operation would only make the file long.
const isAnswer = ([status]) => Number(status) < 400;
for (const methods of Object.values(schema.paths))
  for (const operation of Object.values(methods))
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(isAnswer));
const wanted =
  heading + astToString(await openapiTypescript(schema, { defaultNonNullable: false }));

if (process.argv.includes("--check")) {
  const found = await readFile(target, "utf8").catch(() => "");
  if (found !== wanted) {
    console.error("src/lib/api/schema.ts is out of date; run `npm run gen` and commit the result");
    process.exit(1);
  }
} else {
  await writeFile(target, wanted);
}
