// Addresses of workflows, of the modules that are kept for them, and of their executions.

import { search } from "./api/http";

export interface WorkflowsRoute {
  page: "workflows";
  project: string;
  /** The modules of the project instead of its workflows. */
  tab?: "modules";
  module?: string;
  workflow?: string;
  /** The newest where none is named. */
  version?: number;
  step?: string;
}

export interface ExecutionsRoute {
  page: "executions";
  project: string;
  execution?: string;
  step?: string;
  /** Only of this workflow. */
  workflow?: string;
  /** Only those that are not over, or only those that are. */
  open?: boolean;
  /** An expression that has to hold. */
  filter?: string;
}

export type FlowRoute = WorkflowsRoute | ExecutionsRoute;

export function parseFlow(parts: string[], asked: URLSearchParams): FlowRoute | undefined {
  const [first, project, noun, name] = parts;
  if (first !== "projects" || !project) return undefined;
  const step = asked.get("step");
  if (noun === "workflows") {
    const version = readVersion(asked.get("version"));
    if (!name && asked.get("tab") === "modules") {
      const module = asked.get("module");
      return {
        page: "workflows",
        project,
        tab: "modules",
        ...(module && { module }),
        ...(module && version && { version }),
      };
    }
    return {
      page: "workflows",
      project,
      ...(name && { workflow: name }),
      ...(name && version && { version }),
      ...(name && step && { step }),
    };
  }
  if (noun === "executions") {
    const [workflow, open, filter] = [
      asked.get("workflow"),
      asked.get("open"),
      asked.get("filter"),
    ];
    return {
      page: "executions",
      project,
      ...(name && { execution: name }),
      ...(name && step && { step }),
      ...(workflow && { workflow }),
      ...((open === "true" || open === "false") && { open: open === "true" }),
      ...(filter && { filter }),
    };
  }
  return undefined;
}

export function formatFlow(route: FlowRoute): string {
  const head = `#/projects/${encodeURIComponent(route.project)}/${route.page}`;
  if (route.page === "workflows") {
    const { tab, module, workflow, version, step } = route;
    return `${head}${tail(workflow)}${search({ tab, module, version, step })}`;
  }
  const { execution, step, workflow, open, filter } = route;
  return `${head}${tail(execution)}${search({ step, workflow, open, filter })}`;
}

function tail(name: string | undefined): string {
  return name ? `/${encodeURIComponent(name)}` : "";
}

function readVersion(text: string | null): number | undefined {
  return text !== null && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : undefined;
}
