// Writing plain data as YAML, the way people write workload files: mappings and lists in blocks,
// short lists of short words on one line, text of several lines as a block. Whatever could be read as
// something else is quoted, and a JSON string is a quoted YAML string. Braces that would begin a
// template when the file is read are written as escapes.

type Plain =
  string | number | boolean | null | undefined | readonly Plain[] | { [key: string]: Plain };

const LINE = 88;
/** Words that mean themselves in every version of YAML. */
const BARE =
  /^[A-Za-z_/][A-Za-z0-9_./@+-]*$|^--?[A-Za-z][A-Za-z0-9_./@+=-]*$|^(\d+(ms|s|m|h|d))+$|^\d+[KMGT]iB$/;
const TEMPLATE = /\{(?=[{%#])/;
const NOT_TEXT = /^(true|false|yes|no|on|off|null|y|n)$/i;

export function toYaml(value: unknown): string {
  return block(value as Plain, "").replace(/^\n/, "") + "\n";
}

/** The same as JSON, which can be read as a workload file too. */
export function toJson(value: unknown): string {
  return `${untemplated(JSON.stringify(value, null, 2))}\n`;
}

function untemplated(quoted: string): string {
  return quoted.replaceAll(new RegExp(TEMPLATE, "g"), "\\u007b");
}

function block(value: Plain, indent: string): string {
  if (Array.isArray(value)) {
    const short = `[${value.map((item) => word(item)).join(", ")}]`;
    const isFlat = value.every((item) => !isNested(item) && !isText(item));
    if (isFlat && indent.length + short.length <= LINE) return ` ${short}`;
    return value.map((item: Plain) => `\n${indent}- ${inItem(item, indent)}`).join("");
  }
  if (isNested(value)) {
    const entries = Object.entries(value as Record<string, Plain>).filter(
      ([, inner]) => inner !== undefined,
    );
    if (entries.length === 0) return " {}";
    return entries.map(([key, inner]) => `\n${indent}${pair(key, inner, indent)}`).join("");
  }
  if (isText(value)) return ` ${literal(value as string, indent)}`;
  return ` ${word(value)}`;
}

function pair(key: string, value: Plain, indent: string): string {
  const inner = Array.isArray(value) ? indent : `${indent}  `;
  return `${word(key)}:${block(value, isText(value) ? indent : inner)}`;
}

/** Behind a dash: the first key of a mapping stands on the dash's own line. */
function inItem(value: Plain, indent: string): string {
  if (isText(value)) return literal(value as string, indent);
  return block(value, `${indent}  `).replace(/^\n? */, "");
}

function isNested(value: Plain): boolean {
  return (
    typeof value === "object" && value !== null && !(Array.isArray(value) && value.length === 0)
  );
}

/** Whether it is best shown as a block: several lines, all of them printable as they stand. */
function isText(value: Plain): boolean {
  return (
    typeof value === "string" &&
    /\n[^\n]/.test(value) &&
    !TEMPLATE.test(value) &&
    !/^[ \n]|[^\n\t\u0020-\u007e\u00a0-\ud7ff\ue000-\ufeff]|[ \t]\n|[ \t]$|\n\n$/.test(value)
  );
}

function literal(text: string, indent: string): string {
  const head = text.endsWith("\n") ? "|" : "|-";
  const lines = text.replace(/\n$/, "").split("\n");
  return [head, ...lines.map((line) => (line === "" ? "" : `${indent}  ${line}`))].join("\n");
}

function word(value: Plain): string {
  if (Array.isArray(value)) return "[]";
  if (typeof value !== "string") return value === undefined ? "null" : JSON.stringify(value);
  return BARE.test(value) && !NOT_TEXT.test(value) ? value : untemplated(JSON.stringify(value));
}
