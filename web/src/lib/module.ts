// Modules that a project keeps: their names, and what is shown of a text that has some in it.

import type { ModuleRef, WorkflowBundle } from "./api/types";

/** The name of a file without its ending. */
export function stemOf(file: string): string {
  return file.replace(/\.[^.]*$/, "");
}

/** Whether a module can be called so: letters, digits, `_`, `-`, and `.` between them. */
export function isModuleName(name: string): boolean {
  return name.length <= 128 && /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(name);
}

/** `web@3, note@1`. */
export function moduleWords(modules: readonly ModuleRef[] | undefined): string {
  return (modules ?? []).map(({ name, version }) => `${name}@${version}`).join(", ");
}

/** Every text by its name, the main one first; what only says which file of a module is its main one is none. */
export function textsOf(bundle: WorkflowBundle): [name: string, text: string][] {
  const others = Object.entries(bundle.files ?? {}).filter(([name]) => !name.endsWith("//"));
  return [[bundle.name, bundle.text], ...others];
}
