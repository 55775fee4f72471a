// The form of a stack as data: what a template asks for, what was typed, and the request that it means.

import type {
  StackDefinitionView,
  StackFormBody,
  StackOptions,
  StackOptionsBody,
} from "./api/types";
import { readSpan, type Read } from "./fields";
import { HIDDEN } from "./stack";
import { toYaml } from "./yaml";

/** How long a template may be, as text. */
export const TEMPLATE_MAX = 512 * 1024;

export type FieldKind = "text" | "number" | "boolean" | "list" | "json" | "choice";

/** What is asked for one parameter. */
export interface ParameterField {
  name: string;
  label: string;
  kind: FieldKind;
  note: string;
  isHidden: boolean;
  /** Nothing stands for it where nothing is given. */
  isRequired: boolean;
  /** What it is where nothing is given; never that of a hidden one. */
  fallback: string;
  choices: string[];
}

export interface ParameterGroup {
  label: string;
  description: string;
  fields: ParameterField[];
}

const KINDS: Record<string, FieldKind> = {
  String: "text",
  Number: "number",
  Boolean: "boolean",
  CommaDelimitedList: "list",
  Json: "json",
};

type Document = Record<string, unknown>;

function asDocument(value: unknown): Document {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Document)
    : {};
}

/** A value as it is typed into a field. */
export function fieldText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes(",")))
    return value.join(",");
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

function fieldOf(name: string, given: unknown): ParameterField {
  const schema = asDocument(given);
  const say = (key: string): string => fieldText(schema[key]);
  const choices = Array.isArray(schema.AllowedValues) ? schema.AllowedValues.map(fieldText) : [];
  const kind = KINDS[say("Type")] ?? "text";
  const isHidden = say("NoEcho") === "true";
  const least = say("MinValue") || say("MinLength");
  const most = say("MaxValue") || say("MaxLength");
  const unit = "MinLength" in schema || "MaxLength" in schema ? " characters" : "";
  const range =
    least && most
      ? `${least} to ${most}${unit}`
      : least
        ? `${least}${unit} at least`
        : most
          ? `${most}${unit} at most`
          : "";
  const notes = [say("Description"), say("ConstraintDescription") || range];
  return {
    name,
    label: say("Label") || name,
    kind: choices.length > 0 && kind !== "list" && !isHidden ? "choice" : kind,
    note: notes
      .filter((note) => note !== "")
      .map((note) => note.replace(/\.$/, ""))
      .join(". "),
    isHidden,
    isRequired: !("Default" in schema),
    fallback: isHidden ? "" : say("Default"),
    choices,
  };
}

/** What a template asks for, in its groups; what is in none comes last. */
export function groupsOf(summary: unknown): ParameterGroup[] {
  const { Parameters, ParameterGroups } = asDocument(summary);
  const fields = new Map(
    Object.entries(asDocument(Parameters)).map(([name, schema]) => [name, fieldOf(name, schema)]),
  );
  const groups = (Array.isArray(ParameterGroups) ? ParameterGroups : []).map((given) => {
    const { label, description, parameters } = asDocument(given);
    const names = Array.isArray(parameters) ? parameters.map(String) : [];
    const own = names.flatMap((name) => {
      const field = fields.get(name);
      fields.delete(name);
      return field ? [field] : [];
    });
    return { label: fieldText(label), description: fieldText(description), fields: own };
  });
  return [...groups, { label: "", description: "", fields: [...fields.values()] }].filter(
    (group) => group.fields.length > 0,
  );
}

export interface ParametersRead {
  parameters: Record<string, unknown>;
  /** Those whose values are to be forgotten. */
  cleared: string[];
  mistakes: Record<string, string>;
}

/**
 * What was typed, where it differs from what was there before. A field that was emptied goes back to what
 * the template says; a hidden one that is empty stays as it is.
 */
export function readParameters(
  groups: readonly ParameterGroup[],
  typed: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>> = {},
): ParametersRead {
  const found: ParametersRead = { parameters: {}, cleared: [], mistakes: {} };
  for (const field of groups.flatMap(({ fields }) => fields)) {
    const text = typed[field.name] ?? "";
    const was = before[field.name] ?? "";
    if (text === was) continue;
    if (text === "") {
      if (!field.isHidden) found.cleared.push(field.name);
      continue;
    }
    const read = readParameter(field.kind, text);
    if (read.ok) found.parameters[field.name] = read.value;
    else found.mistakes[field.name] = read.error;
  }
  return found;
}

function readParameter(kind: FieldKind, text: string): Read<unknown> {
  if (kind === "number") {
    const isNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());
    return isNumber
      ? { ok: true, value: text.trim() }
      : { ok: false, error: `“${text}” is not a number.` };
  }
  if (kind === "json") {
    try {
      return { ok: true, value: JSON.parse(text) as unknown };
    } catch (error) {
      const why = error instanceof Error ? error.message : "";
      return { ok: false, error: `This is not JSON: ${why}` };
    }
  }
  return { ok: true, value: text };
}

/** Values that are there, as they are typed; hidden ones are not. */
export function textsOf(parameters: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== HIDDEN)
      .map(([name, value]) => [name, fieldText(value)]),
  );
}

export interface StackDraft {
  name: string;
  template: string;
  environment: string;
  files: Record<string, string>;
  typed: Record<string, string>;
  isRollbackEnabled: boolean;
  timeout: string;
  tags: string;
  converges: boolean;
  atOnce: string;
  driftEvery: string;
}

export function emptyDraft(): StackDraft {
  return {
    name: "",
    template: "",
    environment: "",
    files: {},
    typed: {},
    isRollbackEnabled: false,
    timeout: "",
    tags: "",
    converges: false,
    atOnce: "",
    driftEvery: "",
  };
}

/** A form that says what a stack says; its environment stays as it is where nothing is typed. */
export function draftOfStack(
  name: string,
  template: unknown,
  options: StackOptions,
  parameters: Readonly<Record<string, unknown>>,
): StackDraft {
  return {
    ...emptyDraft(),
    name,
    template: templateText(template),
    typed: textsOf(parameters),
    isRollbackEnabled: options.isRollbackEnabled ?? false,
    timeout: options.timeout ?? "",
    tags: (options.tags ?? []).join(", "),
    converges: options.converges ?? false,
    atOnce: options.atOnce ? String(options.atOnce) : "",
    driftEvery: options.driftEvery ?? "",
  };
}

/** A template as it is read: text as it was written, a document as YAML. */
export function templateText(template: unknown): string {
  return typeof template === "string" ? template : toYaml(template);
}

/** What is looked at to know which parameters there are: what is typed, over what there is. */
export function formToLookAt(
  draft: Pick<StackDraft, "template" | "environment" | "files">,
  known: StackDefinitionView | undefined,
): StackFormBody {
  const environment = draft.environment.trim()
    ? draft.environment
    : known && Object.keys(asDocument(known.environment)).length > 0
      ? JSON.stringify(known.environment)
      : undefined;
  const files = { ...filesOf(known?.files), ...draft.files };
  return {
    template: draft.template,
    ...(environment && { environment }),
    ...(Object.keys(files).length > 0 && { files }),
  };
}

export function filesOf(files: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [
      name,
      typeof text === "string" ? text : JSON.stringify(text),
    ]),
  );
}

export type DraftMistakes = Partial<
  Record<"name" | "template" | "timeout" | "atOnce" | "driftEvery", string>
>;

export interface BuiltForm {
  form: StackFormBody;
  cleared: string[];
  options: StackOptions & StackOptionsBody;
}

/** What the form means, or every mistake in it. With what there was before, only what differs from it. */
export function buildForm(
  draft: StackDraft,
  groups: readonly ParameterGroup[],
  before?: StackDraft,
): { built?: BuiltForm; mistakes: DraftMistakes; parameters: Record<string, string> } {
  const mistakes: DraftMistakes = {};
  if (!isStackName(draft.name))
    mistakes.name = "Begin with a letter; then letters, digits, “_”, “-” and “.”, 255 at most.";
  const size = new TextEncoder().encode(draft.template).length;
  if (draft.template.trim() === "") mistakes.template = "Give a template.";
  else if (size > TEMPLATE_MAX) mistakes.template = "A template has at most 512 KiB.";
  for (const key of ["timeout", "driftEvery"] as const) {
    const text = draft[key].trim();
    const read = text === "" ? undefined : readSpan(text);
    if (read && !read.ok) mistakes[key] = read.error;
  }
  const atOnce = draft.atOnce.trim();
  if (atOnce && !/^[1-9]\d{0,8}$/.test(atOnce)) mistakes.atOnce = "Give a whole number from 1 on.";

  const read = readParameters(groups, draft.typed, before?.typed);
  if (Object.keys(mistakes).length > 0 || Object.keys(read.mistakes).length > 0)
    return { mistakes, parameters: read.mistakes };
  const form: StackFormBody = {
    ...(draft.template !== before?.template && { template: draft.template }),
    ...(draft.environment.trim() && { environment: draft.environment }),
    ...(Object.keys(draft.files).length > 0 && { files: draft.files }),
    ...(Object.keys(read.parameters).length > 0 && { parameters: read.parameters }),
  };
  const built = { form, cleared: read.cleared, options: optionsOf(draft, before) };
  return { built, mistakes, parameters: {} };
}

export function isStackName(name: string): boolean {
  return /^[a-zA-Z][\w.-]{0,254}$/.test(name);
}

/** `prod, web` as they are sent. */
export function tagsOf(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

function optionsOf(draft: StackDraft, before?: StackDraft): StackOptions & StackOptionsBody {
  const has = <K extends keyof StackDraft>(key: K): boolean =>
    before === undefined
      ? draft[key] !== "" && draft[key] !== false
      : String(draft[key]).trim() !== String(before[key]).trim();
  const plain = (key: "timeout" | "atOnce" | "driftEvery"): string => draft[key].trim();
  return {
    ...(has("isRollbackEnabled") && { isRollbackEnabled: draft.isRollbackEnabled }),
    ...(has("timeout") && plain("timeout") && { timeout: plain("timeout") }),
    ...(has("tags") && { tags: tagsOf(draft.tags) }),
    ...(has("converges") && { converges: draft.converges }),
    ...(has("atOnce") && plain("atOnce") && { atOnce: Number(plain("atOnce")) }),
    ...(has("driftEvery") &&
      (plain("driftEvery") || before) && { driftEvery: plain("driftEvery") || "0s" }),
  };
}
