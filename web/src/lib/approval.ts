// Approvals in words.

import type { ApprovalState, ApprovalView } from "./api/types";
import type { Look } from "./words";

export const APPROVAL_STATES: Record<ApprovalState, Look> = {
  waiting: { word: "Waiting", icon: "question", tone: "wait" },
  approved: { word: "Approved", icon: "check", tone: "good" },
  used: { word: "Done", icon: "check", tone: "good" },
  denied: { word: "Denied", icon: "cross", tone: "bad" },
  expired: { word: "Expired", icon: "clock", tone: "muted" },
  withdrawn: { word: "Withdrawn", icon: "stop", tone: "muted" },
  void: { word: "Void", icon: "stop", tone: "muted" },
};

/** Which requests a list shows. */
export const APPROVAL_LISTS = [
  { list: "decide", word: "To decide", query: { toDecide: true } },
  { list: "mine", word: "Mine", query: { mine: true } },
  { list: "all", word: "All", query: {} },
] as const;

export type ApprovalList = (typeof APPROVAL_LISTS)[number]["list"];

/** Who has to agree, and how many did. */
export function needWords(approval: Pick<ApprovalView, "needs">): string[] {
  return approval.needs.map((need) => {
    const who = need.by.length > 0 ? need.by.join(", ") : "whoever has approval.decide";
    return `${need.agreed} of ${need.approvals} agreed (${need.policy}): ${who}`;
  });
}

/** Whether the request can still be taken back. */
export function isOpen(state: ApprovalState): boolean {
  return state === "waiting" || state === "approved";
}
