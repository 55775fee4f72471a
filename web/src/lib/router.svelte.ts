// The present route, kept in step with the address.

import { formatRoute, parseRoute, type Route } from "./route";

class Router {
  route = $state.raw<Route | undefined>(parseRoute(location.hash));

  constructor() {
    window.addEventListener("hashchange", () => (this.route = parseRoute(location.hash)));
  }

  go(route: Route): void {
    location.hash = formatRoute(route);
  }

  /** Like `go`, without a step in the browser's history. */
  settle(route: Route): void {
    history.replaceState(null, "", formatRoute(route));
    this.route = route;
  }
}

export const router = new Router();
