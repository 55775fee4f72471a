// Who is here and what they see: the one piece of state that every page shares.

import { ApiError, asProblem, call, setCsrf, setHooks } from "./api/http";
import type { Permission, Problem, ProjectView, VersionView, WhoamiView } from "./api/types";
import { isCode } from "./oidc";
import { can, canSomewhere, canTouch, type Ownership } from "./role";

type Phase = "starting" | "unreachable" | "setup" | "login" | "code" | "enrol" | "ready";

/** Where a login at the identity provider waits for its end: in this tab, and nowhere else. */
const TICKET = "hostler-oidc-ticket";

class Session {
  phase = $state<Phase>("starting");
  version = $state.raw<VersionView>();
  who = $state.raw<WhoamiView>();
  projects = $state.raw<ProjectView[]>([]);
  problem = $state.raw<Problem>();
  /** What the identity provider gave for a login that was not begun in this tab. */
  code = $state("");
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
      if (await this.#returned()) return;
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

  /** What people know the identity provider as, where there is one. */
  async provider(): Promise<string | undefined> {
    const view = await call("get", "/api/v1/oidc", {});
    return view.label ?? undefined;
  }

  /** Goes to the identity provider, which sends the browser back. */
  async leaveForProvider(): Promise<void> {
    const { url, ticket } = await call("post", "/api/v1/oidc/begin", {});
    sessionStorage.setItem(TICKET, ticket);
    location.assign(url);
  }

  /** Takes what the identity provider put into the address; true when nothing else is to be shown. */
  async #returned(): Promise<boolean> {
    const given = new URLSearchParams(location.search);
    const state = given.get("state");
    if (state === null) return false;
    const code = given.get("code");
    const ticket = sessionStorage.getItem(TICKET);
    sessionStorage.removeItem(TICKET);
    history.replaceState(null, "", location.pathname + location.hash);
    if (code === null) {
      this.notice = "The identity provider did not let you in. Try again, or ask an admin.";
      return false;
    }
    if (ticket === null) {
      if (!isCode(state, code)) {
        this.notice = "What came back from the identity provider is not the end of a login.";
        return false;
      }
      this.code = `${state}.${code}`;
      this.phase = "code";
      return true;
    }
    try {
      const body = { ticket, state, code, kind: "cookie" } as const;
      const view = await call("post", "/api/v1/oidc/finish", { body });
      setCsrf(view.csrfToken);
    } catch (error) {
      const problem = asProblem(error);
      this.notice = `${problem.detail}: ${problem.hint}`;
    }
    return false;
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

  /** In the project of this name, or on the whole installation where none is named. */
  can(permission: Permission, project?: string): boolean {
    return can(this.who, permission, this.#idOf(project));
  }

  canSomewhere(permission: Permission): boolean {
    return canSomewhere(this.who, permission);
  }

  canTouch(what: Ownership, project?: string): boolean {
    return canTouch(this.who, what, this.#idOf(project));
  }

  #idOf(project: string | undefined): string | undefined {
    return project === undefined ? undefined : this.projectId(project);
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
