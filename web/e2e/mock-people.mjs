// The mock's doors: invitations, password resets, and the second factor. Every code is 123456.

import { Refusal } from "./mock-world.mjs";

export const INVITATION = "hst_inv_mock";
export const RESET = "hst_reset_mock";
const CODE = "123456";

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

export function peopleRoutes(openSession) {
  return [
    [
      "POST",
      /^\/api\/v1\/accept\/show$/,
      "public",
      ({ world, body }) => {
        if (body.invitation !== INVITATION || world.isInvitationUsed) throw refuseLink();
        const timeExpires = new Date(Date.now() + 3_600_000).toISOString();
        return { role: "user", project: "default", createdBy: "admin", timeExpires };
      },
    ],
    [
      "POST",
      /^\/api\/v1\/accept$/,
      "public",
      (context) => {
        const { world, body } = context;
        if (body.invitation !== INVITATION || world.isInvitationUsed) throw refuseLink();
        if (world.users.has(body.name))
          throw new Refusal(
            409,
            "already-exists",
            `a user named \`${body.name}\` exists already`,
            "choose another name",
          );
        world.isInvitationUsed = true;
        world.users.set(body.name, { password: body.password, role: "user" });
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
        if (world.users.get(session.name).password !== body.password)
          throw new Refusal(422, "invalid", "this is not the password", "correct it", [
            { pointer: "/password", detail: "this is not the password" },
          ]);
        return { secret: "GEZDGNBVGY3TQOJQ", uri: "otpauth://totp/Hostler:admin?secret=GEZDGNBV" };
      },
    ],
    [
      "POST",
      /^\/api\/v1\/whoami\/totp\/confirm$/,
      "any",
      ({ world, session, body }) => {
        if (body.code !== CODE)
          throw new Refusal(422, "invalid", "the code is wrong", "correct it", [
            { pointer: "/code", detail: "the code is wrong" },
          ]);
        world.users.get(session.name).secondFactor = "on";
        return { recoveryCodes: ["AAAA-BBBB-CCCC-DDDD", "EEEE-FFFF-GGGG-HHHH"] };
      },
    ],
  ];
}
