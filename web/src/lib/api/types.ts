// Short names for the generated types. Nothing is described here by hand: what the server says
// about itself in OpenAPI is the only description.

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Explanation = Schemas["Explanation"];
export type Exit = Schemas["Exit"];
export type JoinTokenCreatedView = Schemas["JoinTokenCreatedView"];
export type LogLine = Schemas["LogLine"];
export type NodeState = Schemas["NodeState"];
export type NodeView = Schemas["NodeView"];
export type OutputStream = Schemas["OutputStream"];
export type Problem = Schemas["Problem"];
export type ProjectView = Schemas["ProjectView"];
export type Role = Schemas["Role"];
export type TaskStateKind = Schemas["TaskStateKind"];
export type TaskSubmitBody = Schemas["TaskSubmitBody"];
export type TaskView = Schemas["TaskView"];
export type VersionView = Schemas["VersionView"];
export type WhoamiView = Schemas["WhoamiView"];
export type WorkloadSpec = Schemas["WorkloadSpec"];
