// What the mock does with approvals: nothing waits for one.

export const APPROVAL_ROUTES = [["GET", /^\/api\/v1\/approvals$/, "any", () => ({ items: [] })]];
