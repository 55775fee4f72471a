// Who is here and what they see: the one piece of state that every page shares.

import { ApiError, asProblem, call, setCsrf, setHooks } from "./api/http";
import type { Problem, ProjectView, Role, VersionView, WhoamiView } from "./api/types";
import { may } from "./role";

type Phase = "starting" | "unreachable" | "setup" | "login" | "enrol" | "ready";

class Session {
  phase = $state<Phase>("starting");
  version = $state.raw<VersionView>();
  who = $state.raw<WhoamiView>();
  projects = $state.raw<ProjectView[]>([]);
  problem = $state.raw<Problem>();
  /** Why the login page is shown, where it was not asked for. */
  notice = $state("");

  constructor() {
    setHooks({
      unauthenticated: () => {
        if (this.phase === "ready") this.#leave("Your session has ended. Log in again to go on.");
      },
      renew: async () => {
        const who = await call("get", "/api/v1/whoami", {});
        this.who = who;
        return who.csrfToken ?? undefined;
      },
    });
  }

  async start(): Promise<void> {
    this.problem = undefined;
    try {
      this.version = await call("get", "/version", {});
      if (this.version.needsSetup) this.phase = "setup";
      else await this.enter();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        this.phase = "login";
      } else {
        this.problem = asProblem(error);
        this.phase = "unreachable";
      }
    }
  }

  /** Loads what the shell needs, once the cookie is there. */
  async enter(): Promise<void> {
    const who = await call("get", "/api/v1/whoami", {});
    setCsrf(who.csrfToken);
    if (who.secondFactor === "required") {
      this.who = who;
      this.phase = "enrol";
      return;
    }
    const found: ProjectView[] = [];
    let cursor: string | undefined;
    do {
      const page = await call("get", "/api/v1/projects", { query: { limit: 1000, cursor } });
      found.push(...page.items);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined && found.length < 5000);
    this.projects = found;
    this.who = who;
    this.notice = "";
    this.phase = "ready";
  }

  async login(name: string, password: string, code?: string): Promise<void> {
    const body = { name, password, kind: "cookie", ...(code ? { code } : {}) } as const;
    const view = await call("post", "/api/v1/login", { body });
    setCsrf(view.csrfToken);
    await this.enter();
  }

  async setup(code: string, name: string, password: string): Promise<void> {
    const body = { code, name, password, kind: "cookie" } as const;
    const view = await call("post", "/api/v1/setup", { body });
    setCsrf(view.csrfToken);
    await this.enter();
  }

  /** Makes an account with an invitation. */
  async accept(invitation: string, name: string, password: string): Promise<void> {
    const body = { invitation, name, password, kind: "cookie" } as const;
    const view = await call("post", "/api/v1/accept", { body });
    setCsrf(view.csrfToken);
    await this.enter();
  }

  /** Sets a new password with a link; every session ends, and the next begins with a login. */
  async reset(secret: string, password: string): Promise<void> {
    const body = { reset: secret, password };
    const { user } = await call("post", "/api/v1/password-reset", { body });
    this.#leave(`The new password of ${user} is set. Log in with it.`);
  }

  async logout(): Promise<void> {
    await call("post", "/api/v1/logout", {});
    this.#leave("");
  }

  /** Looks again when the page comes back into view: another tab may have changed the session. */
  async refresh(): Promise<void> {
    if (this.phase !== "ready") return;
    const who = await call("get", "/api/v1/whoami", {}).catch(() => undefined);
    if (who === undefined) return;
    setCsrf(who.csrfToken);
    this.who = who;
  }

  projectId(name: string): string | undefined {
    return this.projects.find((project) => project.name === name)?.id;
  }

  may(need: Role, project?: string): boolean {
    return may(this.who, need, project === undefined ? undefined : this.projectId(project));
  }

  #leave(notice: string): void {
    setCsrf(undefined);
    this.who = undefined;
    this.projects = [];
    this.notice = notice;
    this.phase = "login";
  }
}

export const session = new Session();
