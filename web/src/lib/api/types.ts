// Short names for the generated types. Nothing is described here by hand: what the server says
// about itself in OpenAPI is the only description.

import type { components } from "./schema";

type Schemas = components["schemas"];

export type AccountView = Schemas["AccountView"];
export type After = Schemas["After"];
export type ArraySubmitBody = Schemas["ArraySubmitBody"];
export type ArrayView = Schemas["ArrayView"];
export type BlobKind = Schemas["BlobKind"];
export type BlobView = Schemas["BlobView"];
export type DiskHealthFact = Schemas["DiskHealthFact"];
export type Explanation = Schemas["Explanation"];
export type Exit = Schemas["Exit"];
export type GpuFact = Schemas["GpuFact"];
export type GpuMetrics = Schemas["GpuMetrics"];
export type Health = Schemas["Health"];
export type ImageView = Schemas["ImageView"];
export type InputSpec = Schemas["Input"];
export type InvitationOfferView = Schemas["InvitationOfferView"];
export type JoinTokenCreatedView = Schemas["JoinTokenCreatedView"];
export type LogLine = Schemas["LogLine"];
export type NodeHeldView = Schemas["NodeHeldView"];
export type NodeState = Schemas["NodeState"];
export type NodeView = Schemas["NodeView"];
export type NodeWorkloadView = Schemas["NodeWorkloadView"];
export type OutputSpec = Schemas["Output"];
export type OutputStream = Schemas["OutputStream"];
export type OutputView = Schemas["OutputView"];
export type Phase = Schemas["Phase"];
export type PlacementView = Schemas["PlacementView"];
export type Problem = Schemas["Problem"];
export type ProjectView = Schemas["ProjectView"];
export type QueueProject = Schemas["QueueProject"];
export type Role = Schemas["Role"];
export type RunView = Schemas["RunView"];
export type TaskStateKind = Schemas["TaskStateKind"];
export type TaskSubmitBody = Schemas["TaskSubmitBody"];
export type TaskView = Schemas["TaskView"];
export type UsageSample = Schemas["UsageSample"];
export type VersionView = Schemas["VersionView"];
export type WhoamiView = Schemas["WhoamiView"];
export type WorkloadExplanation = Schemas["WorkloadExplanation"];
export type WorkloadLogLine = Schemas["WorkloadLogLine"];
export type WorkloadPhase = Schemas["WorkloadPhase"];
export type WorkloadRunView = Schemas["WorkloadRunView"];
export type WorkloadSpec = Schemas["WorkloadSpec"];
export type WorkloadView = Schemas["WorkloadView"];
