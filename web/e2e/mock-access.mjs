// The mock's accounts, roles, groups, members, invitations, sessions and tokens. It keeps no more rules
// than the pages need: names that are taken, generations that must match, what is there and what is not.

import { uuid7 } from "./mock-content.mjs";
import { permissionsOf, ROLES } from "./mock-permissions.mjs";
import { find, Refusal } from "./mock-world.mjs";

const now = () => new Date().toISOString();
const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString();
const SPANS = { h: 1 / 24, d: 1 };

function daysOf(ttl, fallback) {
  const [, count, unit] = /^(\d+)([hd])$/.exec(ttl ?? "") ?? [];
  return count === undefined ? fallback : Number(count) * SPANS[unit];
}

/** What is kept besides what the world has; made when it is first asked for. */
export function accessOf(world) {
  world.access ??= {
    ids: new Map(),
    invitations: new Map(),
    links: new Map(),
    services: new Map(),
    members: new Map(),
    roles: new Map(),
    groups: new Map(),
    tokens: new Map(),
  };
  return world.access;
}

/** Accounts are made from what the world knows of those who log in. */
function userView(world, name) {
  const { ids, services } = accessOf(world);
  const held = world.users.get(name) ?? services.get(name);
  if (!held)
    throw new Refusal(404, "not-found", `there is no user \`${name}\``, "see `hostler user ls`");
  if (!ids.has(name)) ids.set(name, { id: uuid7(), generation: 1, time: now() });
  const { id, generation, time } = ids.get(name);
  return {
    id,
    name,
    kind: services.has(name) ? "service" : "user",
    ...(held.role && { role: held.role }),
    isDisabled: held.isDisabled ?? false,
    generation,
    timeCreated: time,
    timeModified: time,
  };
}

function names(world) {
  return [...world.users.keys(), ...accessOf(world).services.keys()].sort();
}

function userOf({ world, path }) {
  const views = names(world).map((name) => userView(world, name));
  const found = views.find(({ id, name }) => id === path.user || name === path.user);
  return found ?? userView(world, path.user);
}

function checkMatch({ request }, generation) {
  if (request.headers["if-match"] !== `"${generation}"`)
    throw new Refusal(412, "stale", "it was changed meanwhile", "read it again");
}

function sessionsOf({ world, cookie }, name) {
  return [...world.sessions]
    .filter(([, session]) => session.name === name)
    .map(([key, { id }]) => ({
      id,
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0 Safari/537.36",
      isCurrent: key === cookie,
      timeCreated: now(),
      timeLastUsed: now(),
      timeExpires: inDays(0.5),
    }));
}

function endSessions({ world }, isMeant) {
  const ended = [...world.sessions].filter(([key, session]) => isMeant(key, session));
  for (const [key] of ended) world.sessions.delete(key);
  return { browsers: ended.length, commandLines: 0 };
}

function invite({ world, session, request, body }, project) {
  const { invitations, links } = accessOf(world);
  const { ttl, ...rest } = body;
  const invitation = {
    id: uuid7(),
    ...rest,
    ...(project && { project }),
    state: "unused",
    createdBy: session.name,
    timeCreated: now(),
    timeExpires: inDays(daysOf(ttl, 3)),
  };
  const secret = `hst_inv_${invitation.id.replaceAll("-", "")}`;
  invitations.set(invitation.id, invitation);
  links.set(secret, invitation);
  return {
    invitation,
    link: `http://${request.headers.host}/#invitation=${secret}.${"ab".repeat(32)}`,
  };
}

function revoke({ world, path }) {
  find(accessOf(world).invitations, path.invitation, "invitation").state = "revoked";
}

function invitationsOf({ world }, project) {
  const all = [...accessOf(world).invitations.values()].reverse();
  return { items: project ? all.filter((one) => one.project === project) : all };
}

function builtIn(name) {
  return {
    name,
    description: "",
    isBuiltIn: true,
    permissions: permissionsOf(name),
    generation: 1,
  };
}

function rolesOf(world) {
  return [...ROLES.map(builtIn), ...accessOf(world).roles.values()];
}

function groupView(world, group) {
  const bound = [...accessOf(world).members].flatMap(([project, held]) =>
    held.has(`group:${group.name}`) ? [{ project, role: held.get(`group:${group.name}`) }] : [],
  );
  const { role, ...rest } = group;
  return { ...rest, roles: [...(role ? [{ role }] : []), ...bound] };
}

function groupOf({ world, path }) {
  return find(accessOf(world).groups, path.group, "group");
}

function touch(object, change) {
  return Object.assign(object, change, {
    generation: object.generation + 1,
    timeModified: now(),
  });
}

function membersOf({ world, path }) {
  const { members } = accessOf(world);
  if (!members.has(path.project)) members.set(path.project, new Map([["mira", "operator"]]));
  return members.get(path.project);
}

const one = (rest) => new RegExp(`^/api/v1/${rest}$`);
const PROJECT = "projects/(?<project>[^/]+)";
const USER = "users/(?<user>[^/]+)";

export const ACCESS_ROUTES = [
  [
    "GET",
    one("users"),
    "admin",
    ({ world }) => ({ items: names(world).map((name) => userView(world, name)) }),
  ],
  [
    "POST",
    one("users"),
    "admin",
    ({ world, body }) => {
      if (names(world).includes(body.name))
        throw new Refusal(
          409,
          "already-exists",
          `a user named \`${body.name}\` exists already`,
          "choose another name",
        );
      accessOf(world).services.set(body.name, { role: body.role });
      return userView(world, body.name);
    },
  ],
  [
    "PATCH",
    one(USER),
    "admin",
    (context) => {
      const { world, body } = context;
      const view = userOf(context);
      checkMatch(context, view.generation);
      const held = world.users.get(view.name) ?? accessOf(world).services.get(view.name);
      if (body.isDisabled !== undefined) held.isDisabled = body.isDisabled;
      if (body.role !== undefined) held.role = body.role === "none" ? undefined : body.role;
      accessOf(world).ids.get(view.name).generation += 1;
      return userView(world, view.name);
    },
  ],
  [
    "DELETE",
    one(USER),
    "admin",
    (context) => {
      const { world } = context;
      const { name, generation } = userOf(context);
      checkMatch(context, generation);
      world.users.delete(name);
      accessOf(world).services.delete(name);
    },
  ],
  [
    "POST",
    one(`${USER}/password-reset`),
    "admin",
    (context) => {
      const { name } = userOf(context);
      const link = `http://${context.request.headers.host}/#reset=hst_reset_${name}.${"ab".repeat(32)}`;
      return { user: name, link, timeExpires: inDays(1 / 24) };
    },
  ],
  ["DELETE", one(`${USER}/totp`), "admin", (context) => void userOf(context)],
  [
    "GET",
    one(`${USER}/sessions`),
    "admin",
    (context) => ({ items: sessionsOf(context, userOf(context).name) }),
  ],
  [
    "DELETE",
    one(`${USER}/sessions`),
    "admin",
    (context) => {
      const { name } = userOf(context);
      return endSessions(context, (_, session) => session.name === name);
    },
  ],
  [
    "DELETE",
    one(`${USER}/sessions/(?<session>[^/]+)`),
    "admin",
    (context) => void endSessions(context, (_, { id }) => id === context.path.session),
  ],
  [
    "GET",
    one("sessions"),
    "any",
    (context) => ({ items: sessionsOf(context, context.session.name) }),
  ],
  [
    "DELETE",
    one("sessions"),
    "any",
    (context) =>
      endSessions(
        context,
        (key, { name }) => name === context.session.name && key !== context.cookie,
      ),
  ],
  [
    "DELETE",
    one("sessions/(?<session>[^/]+)"),
    "any",
    (context) => void endSessions(context, (_, { id }) => id === context.path.session),
  ],
  ["GET", one("invitations"), "admin", (context) => invitationsOf(context)],
  ["POST", one("invitations"), "admin", (context) => invite(context)],
  ["DELETE", one("invitations/(?<invitation>[^/]+)"), "admin", revoke],
  [
    "GET",
    one(`${PROJECT}/invitations`),
    "admin",
    (context) => invitationsOf(context, context.path.project),
  ],
  [
    "POST",
    one(`${PROJECT}/invitations`),
    "admin",
    (context) => invite(context, context.path.project),
  ],
  ["DELETE", one(`${PROJECT}/invitations/(?<invitation>[^/]+)`), "admin", revoke],
  [
    "GET",
    one(`${PROJECT}/members`),
    "viewer",
    (context) => ({
      items: [...membersOf(context)].map(([user, role]) => ({ user, id: user, role })),
    }),
  ],
  [
    "PUT",
    one(`${PROJECT}/members/(?<user>[^/]+)`),
    "admin",
    (context) => {
      const user = decodeURIComponent(context.path.user);
      membersOf(context).set(user, context.body.role);
      return { user, id: user, role: context.body.role };
    },
  ],
  [
    "DELETE",
    one(`${PROJECT}/members/(?<user>[^/]+)`),
    "admin",
    (context) => void membersOf(context).delete(decodeURIComponent(context.path.user)),
  ],
  ["GET", one("roles"), "any", ({ world }) => ({ items: rolesOf(world) })],
  [
    "POST",
    one("roles"),
    "admin",
    ({ world, body }) => {
      if (rolesOf(world).some(({ name }) => name === body.name))
        throw new Refusal(
          409,
          "already-exists",
          `a role named \`${body.name}\` exists already`,
          "choose another name",
        );
      const role = { id: uuid7(), ...body, isBuiltIn: false, generation: 1, timeModified: now() };
      accessOf(world).roles.set(role.id, role);
      return role;
    },
  ],
  ["GET", one("roles/[^/]+/holders"), "admin", () => ({ items: [] })],
  [
    "PATCH",
    one("roles/(?<role>[^/]+)"),
    "admin",
    (context) => {
      const role = find(accessOf(context.world).roles, context.path.role, "role");
      checkMatch(context, role.generation);
      return touch(role, context.body);
    },
  ],
  [
    "DELETE",
    one("roles/(?<role>[^/]+)"),
    "admin",
    (context) => {
      const { roles } = accessOf(context.world);
      const role = find(roles, context.path.role, "role");
      checkMatch(context, role.generation);
      roles.delete(role.id);
    },
  ],
  [
    "GET",
    one("groups"),
    "admin",
    ({ world }) => ({
      items: [...accessOf(world).groups.values()].map((group) => groupView(world, group)),
    }),
  ],
  [
    "POST",
    one("groups"),
    "admin",
    ({ world, body }) => {
      for (const name of body.members) userView(world, name);
      const group = {
        id: uuid7(),
        ...body,
        generation: 1,
        timeCreated: now(),
        timeModified: now(),
      };
      accessOf(world).groups.set(group.id, group);
      return groupView(world, group);
    },
  ],
  [
    "PATCH",
    one("groups/(?<group>[^/]+)"),
    "admin",
    (context) => {
      const group = groupOf(context);
      checkMatch(context, group.generation);
      const { role } = context.body;
      return groupView(context.world, touch(group, { role: role === "none" ? undefined : role }));
    },
  ],
  [
    "DELETE",
    one("groups/(?<group>[^/]+)"),
    "admin",
    (context) => {
      const group = groupOf(context);
      checkMatch(context, group.generation);
      accessOf(context.world).groups.delete(group.id);
    },
  ],
  [
    "PUT",
    one("groups/(?<group>[^/]+)/members/(?<user>[^/]+)"),
    "admin",
    (context) => {
      const { name } = userOf(context);
      const group = groupOf(context);
      const members = [...new Set([...group.members, name])];
      return groupView(context.world, touch(group, { members }));
    },
  ],
  [
    "DELETE",
    one("groups/(?<group>[^/]+)/members/(?<user>[^/]+)"),
    "admin",
    (context) => {
      const group = groupOf(context);
      const members = group.members.filter((name) => name !== context.path.user);
      return groupView(context.world, touch(group, { members }));
    },
  ],
  [
    "GET",
    one("tokens"),
    "any",
    ({ world }) => ({ items: [...accessOf(world).tokens.values()].reverse() }),
  ],
  [
    "POST",
    one("tokens"),
    "any",
    ({ world, session, body }) => {
      const { ttl, ...rest } = body;
      const token = {
        id: uuid7(),
        user: session.name,
        ...rest,
        isRevoked: false,
        timeCreated: now(),
        timeExpires: inDays(daysOf(ttl, 90)),
      };
      accessOf(world).tokens.set(token.id, token);
      return { token, secret: `hst_${token.id.replaceAll("-", "")}` };
    },
  ],
  [
    "DELETE",
    one("tokens/(?<token>[^/]+)"),
    "any",
    ({ world, path }) => void accessOf(world).tokens.delete(path.token),
  ],
];
