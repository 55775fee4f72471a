// One function that makes requests, typed by the generated description of the API: a path, method,
// parameter or field that the server does not have does not compile.
//
// The session lives in an httpOnly cookie that scripts cannot read. The CSRF token is kept in this
// module's memory only, and goes with every change; so does an Idempotency-Key with every POST, so
// that a repeat after a lost answer has one effect.

import type { paths } from "./schema";
import type { Problem } from "./types";

type Method = "get" | "post" | "put" | "patch" | "delete";
type MethodOf<P extends keyof paths> = {
  [M in Method]: paths[P][M] extends object ? M : never;
}[Method];
type PathOf<O> = O extends { parameters: { path: infer T } } ? T : undefined;
type QueryOf<O> = O extends { parameters: { query?: infer T } } ? T : undefined;
type BodyOf<O> = O extends { requestBody: { content: { "application/json": infer T } } }
  ? T
  : undefined;
type Content<R> = R extends { content: { "application/json": infer T } } ? T : undefined;
type ReplyOf<O> = O extends { responses: infer R } ? Content<R[keyof R]> : never;
type Field<K extends string, T> = [T] extends [undefined]
  ? { [F in K]?: undefined }
  : { [F in K]: T };

export type Options<O> = Field<"path", PathOf<O>> &
  Field<"body", BodyOf<O>> & {
    query?: QueryOf<O> | undefined;
    signal?: AbortSignal | undefined;
    /** The generation of the object that is changed, as it is known here. */
    ifMatch?: number | undefined;
    /** A body that is sent as it is. */
    bytes?: Blob | undefined;
    /** What others agreed to, where a policy asks for that. */
    approval?: string | undefined;
  };

/** An answer that is not a success, with the server's own words about it. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
  get status(): number {
    return this.problem.status;
  }
}

interface Hooks {
  /** The session is over. */
  unauthenticated(): void;
  /** Gets a current CSRF token; the one we hold may belong to a session that another tab replaced. */
  renew(): Promise<string | undefined>;
}

let csrf: string | undefined;
let hooks: Hooks = { unauthenticated: () => undefined, renew: async () => undefined };

export function setCsrf(token: string | null | undefined): void {
  csrf = token ?? undefined;
}

export function setHooks(given: Hooks): void {
  hooks = given;
}

/** Calls an endpoint and returns its JSON document, or `undefined` where there is none. */
export async function call<P extends keyof paths, M extends MethodOf<P>>(
  method: M,
  path: P,
  options: Options<paths[P][M]>,
): Promise<ReplyOf<paths[P][M]>> {
  const response = await send(method, path, options);
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  return (isJson ? await response.json() : undefined) as ReplyOf<paths[P][M]>;
}

/** Calls an endpoint that streams, and returns the response with its body unread. */
export function stream<P extends keyof paths>(
  path: P,
  options: Options<paths[P]["get"]>,
): Promise<Response> {
  return send("get", path, options);
}

// What proves itself by the secret of a link: a refusal says nothing about the session.
const BY_LINK = new Set<string>([
  "/api/v1/accept/show",
  "/api/v1/accept",
  "/api/v1/password-reset",
] satisfies (keyof paths)[]);

interface Loose {
  path?: unknown;
  query?: unknown;
  body?: unknown;
  signal?: AbortSignal | undefined;
  ifMatch?: number | undefined;
  bytes?: Blob | undefined;
  approval?: string | undefined;
}

async function send(method: Method, template: string, options: Loose): Promise<Response> {
  const address = fill(template, options.path) + search(options.query);
  const headers: Record<string, string> = {};
  if (options.body !== undefined) headers["content-type"] = "application/json";
  if (options.bytes !== undefined) headers["content-type"] = "application/octet-stream";
  if (options.ifMatch !== undefined) headers["if-match"] = `"${options.ifMatch}"`;
  if (options.approval) headers["hostler-approval"] = options.approval;
  if (method === "post") headers["idempotency-key"] = crypto.randomUUID();
  const attempt = (): Promise<Response> => {
    if (method !== "get" && csrf !== undefined) headers["x-hostler-csrf"] = csrf;
    return fetch(address, {
      method: method.toUpperCase(),
      headers,
      body: options.bytes ?? (options.body === undefined ? null : JSON.stringify(options.body)),
      signal: options.signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
    });
  };
  let response = await attempt();
  if (response.status === 403 && method !== "get" && csrf !== undefined) {
    const fresh = await hooks.renew().catch(() => undefined);
    if (fresh !== undefined && fresh !== csrf) {
      csrf = fresh;
      response = await attempt();
    }
  }
  if (response.ok) return response;
  const error = new ApiError(await problemOf(response));
  if (error.status === 401 && !BY_LINK.has(template)) hooks.unauthenticated();
  throw error;
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback: Problem = {
    type: "about:blank",
    title: response.statusText || "Error",
    status: response.status,
    detail: `The server answered ${response.status} without saying why.`,
    code: response.status >= 500 ? "unavailable" : "malformed",
    hint: "Try again in a moment; something between here and the server may be in the way.",
    requestId: response.headers.get("x-request-id") ?? "",
  };
  try {
    const found = (await response.json()) as Partial<Problem>;
    return typeof found.detail === "string" ? { ...fallback, ...found } : fallback;
  } catch {
    return fallback;
  }
}

/** What to show for anything that can be thrown here. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return {
    type: "about:blank",
    title: "Not reached",
    status: 0,
    detail: "The server could not be reached.",
    code: "unavailable",
    hint: "Check that it is running and that this machine is online; nothing was lost here.",
    requestId: "",
  };
}

export function fill(template: string, values: unknown): string {
  const known = (values ?? {}) as Record<string, string>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(known[name] ?? ""));
}

export function search(query: unknown): string {
  const pairs = Object.entries((query ?? {}) as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  if (pairs.length === 0) return "";
  return "?" + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString();
}
