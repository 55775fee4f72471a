// The same requests about hooks of a project, and of the whole installation where none is named.

import { call } from "./api/http";
import type {
  DeliveryState,
  DeliveryView,
  EventHookSpec,
  HookTestView,
  HookView,
} from "./api/types";
import type { Page } from "./paged.svelte";

const ALL = "/api/v1/hooks";
const ONE = "/api/v1/hooks/{hook}";
const OF_ALL = "/api/v1/projects/{project}/hooks";
const OF_ONE = "/api/v1/projects/{project}/hooks/{hook}";

interface PageQuery {
  limit?: number;
  cursor?: string | undefined;
}

export class HookApi {
  constructor(readonly project: string | undefined) {}

  list(query: PageQuery, signal?: AbortSignal): Promise<Page<HookView>> {
    const { project } = this;
    return project === undefined
      ? call("get", ALL, { query, signal })
      : call("get", OF_ALL, { path: { project }, query, signal });
  }

  get(hook: string, signal?: AbortSignal): Promise<HookView> {
    const { project } = this;
    return project === undefined
      ? call("get", ONE, { path: { hook }, signal })
      : call("get", OF_ONE, { path: { project, hook }, signal });
  }

  set(hook: string, body: EventHookSpec, ifMatch: number | undefined): Promise<HookView> {
    const { project } = this;
    return project === undefined
      ? call("put", ONE, { path: { hook }, body, ifMatch })
      : call("put", OF_ONE, { path: { project, hook }, body, ifMatch });
  }

  enable(hook: string): Promise<HookView> {
    const { project } = this;
    return project === undefined
      ? call("post", `${ONE}/enable`, { path: { hook } })
      : call("post", `${OF_ONE}/enable`, { path: { project, hook } });
  }

  disable(hook: string): Promise<HookView> {
    const { project } = this;
    return project === undefined
      ? call("post", `${ONE}/disable`, { path: { hook } })
      : call("post", `${OF_ONE}/disable`, { path: { project, hook } });
  }

  async remove(hook: string, ifMatch: number): Promise<void> {
    const { project } = this;
    if (project === undefined) await call("delete", ONE, { path: { hook }, ifMatch });
    else await call("delete", OF_ONE, { path: { project, hook }, ifMatch });
  }

  test(hook: string, sequence: number): Promise<HookTestView> {
    const { project } = this;
    const body = { sequence };
    return project === undefined
      ? call("post", `${ONE}/test`, { path: { hook }, body })
      : call("post", `${OF_ONE}/test`, { path: { project, hook }, body });
  }

  deliveries(
    hook: string,
    query: PageQuery & { state?: DeliveryState | undefined },
    signal?: AbortSignal,
  ): Promise<Page<DeliveryView>> {
    const { project } = this;
    return project === undefined
      ? call("get", `${ONE}/deliveries`, { path: { hook }, query, signal })
      : call("get", `${OF_ONE}/deliveries`, { path: { project, hook }, query, signal });
  }

  /** All dead letters where no event is named. */
  async replay(hook: string, sequence?: number): Promise<number> {
    const { project } = this;
    const body = sequence === undefined ? {} : { sequence };
    const { count } = await (project === undefined
      ? call("post", `${ONE}/replay`, { path: { hook }, body })
      : call("post", `${OF_ONE}/replay`, { path: { project, hook }, body }));
    return count;
  }

  async discard(hook: string, sequence?: number): Promise<number> {
    const { project } = this;
    const body = sequence === undefined ? {} : { sequence };
    const { count } = await (project === undefined
      ? call("post", `${ONE}/discard`, { path: { hook }, body })
      : call("post", `${OF_ONE}/discard`, { path: { project, hook }, body }));
    return count;
  }
}
