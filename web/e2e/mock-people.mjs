// The mock's doors: invitations, password resets, and the second factor. Every code is 123456.

import { accessOf } from "./mock-access.mjs";
import { Refusal } from "./mock-world.mjs";
import { totp } from "./totp.mjs";

export const INVITATION = "hst_inv_mock";
export const RESET = "hst_reset_mock";
const CODE = "123456";
const SECRET = "GEZDGNBVGY3TQOJQ";
const RECOVERY = ["AAAA-BBBB-CCCC-DDDD", "EEEE-FFFF-GGGG-HHHH"];

export function secondFactorOf(world, name) {
  return world.users.get(name)?.secondFactor ?? "off";
}

/** Refuses a login whose password is right, and whose code is missing or wrong. */
export function checkCode(world, { name, code }) {
  if (secondFactorOf(world, name) !== "on") return;
  if (!code)
    throw new Refusal(
      401,
      "second-factor-required",
      "a code of the second factor is needed too",
      "send it as `code`",
    );
  if (code !== CODE)
    throw new Refusal(
      401,
      "unauthenticated",
      "the code is wrong, too old, or was used already",
      "try again",
    );
}

const refuseLink = () =>
  new Refusal(
    401,
    "unauthenticated",
    "the invitation was used already; each works once",
    "if you have an account already, log in",
  );

const OFFERED = ["role", "project", "name", "createdBy", "timeExpires"];

function offerOf(world, secret) {
  const made = accessOf(world).links.get(secret);
  if (made?.state === "unused")
    return Object.fromEntries(OFFERED.filter((key) => key in made).map((key) => [key, made[key]]));
  if (secret !== INVITATION || world.isInvitationUsed) throw refuseLink();
  const timeExpires = new Date(Date.now() + 3_600_000).toISOString();
  return { role: "user", project: "default", createdBy: "admin", timeExpires };
}

function useOffer(world, secret, name) {
  const made = accessOf(world).links.get(secret);
  if (made) Object.assign(made, { state: "used", usedBy: name });
  else world.isInvitationUsed = true;
}

function checkPassword(world, name, password, pointer) {
  if (world.users.get(name).password === password) return;
  throw new Refusal(422, "invalid", "this is not the password", "correct it", [
    { pointer, detail: "this is not the password" },
  ]);
}

export function peopleRoutes(openSession) {
  return [
    [
      "POST",
      /^\/api\/v1\/accept\/show$/,
      "public",
      ({ world, body }) => {
        return offerOf(world, body.invitation);
      },
    ],
    [
      "POST",
      /^\/api\/v1\/accept$/,
      "public",
      (context) => {
        const { world, body } = context;
        const { role } = offerOf(world, body.invitation);
        if (world.users.has(body.name))
          throw new Refusal(
            409,
            "already-exists",
            `a user named \`${body.name}\` exists already`,
            "choose another name",
          );
        useOffer(world, body.invitation, body.name);
        world.users.set(body.name, { password: body.password, role });
        return openSession(context, body.name);
      },
    ],
    [
      "POST",
      /^\/api\/v1\/password-reset$/,
      "public",
      ({ world, body }) => {
        if (body.reset !== RESET || world.isResetUsed) throw refuseLink();
        world.isResetUsed = true;
        world.users.get("vera").password = body.password;
        return { user: "vera" };
      },
    ],
    [
      "POST",
      /^\/api\/v1\/whoami\/totp$/,
      "any",
      ({ world, session, body }) => {
        checkPassword(world, session.name, body.password, "/password");
        return { secret: SECRET, uri: `otpauth://totp/Hostler:${session.name}?secret=${SECRET}` };
      },
    ],
    [
      "POST",
      /^\/api\/v1\/whoami\/totp\/confirm$/,
      "any",
      ({ world, session, body }) => {
        if (body.code !== CODE && body.code !== totp(SECRET))
          throw new Refusal(422, "invalid", "the code is wrong", "correct it", [
            { pointer: "/code", detail: "the code is wrong" },
          ]);
        world.users.get(session.name).secondFactor = "on";
        return { recoveryCodes: RECOVERY };
      },
    ],
    [
      "GET",
      /^\/api\/v1\/whoami\/totp$/,
      "any",
      ({ world, session }) => {
        const state = secondFactorOf(world, session.name);
        const timeConfirmed = new Date().toISOString();
        return state === "on"
          ? { state, recoveryCodesLeft: RECOVERY.length, timeConfirmed }
          : { state, recoveryCodesLeft: 0 };
      },
    ],
    [
      "POST",
      /^\/api\/v1\/whoami\/totp\/disable$/,
      "any",
      ({ world, session, body }) => {
        checkPassword(world, session.name, body.password, "/password");
        if (body.code !== CODE && !RECOVERY.includes(body.code))
          throw new Refusal(422, "invalid", "the code is wrong", "correct it", [
            { pointer: "/code", detail: "the code is wrong" },
          ]);
        world.users.get(session.name).secondFactor = "off";
      },
    ],
    [
      "POST",
      /^\/api\/v1\/whoami\/password$/,
      "any",
      ({ world, session, body }) => {
        checkPassword(world, session.name, body.current, "/current");
        world.users.get(session.name).password = body.new;
      },
    ],
  ];
}
