// An identity provider for the tests: that of `oidc-provider`, over TLS, on a port of the loopback interface.
//
//   node provider.mjs PORT CERTIFICATE KEY REDIRECT
//
// With port 0 the kernel chooses one; the first line that is printed says where it is. Two people have accounts, and
// log in with any password, as in the provider's own pages for development. Below `/-/` a test says what is to change.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

import { Provider } from "oidc-provider";

const [port, certificate, key, redirect] = process.argv.slice(2);

const accounts = new Map([
  [
    "00u1-ada",
    {
      email: "ada@example.org",
      email_verified: true,
      preferred_username: "Ada",
      groups: ["hostler-users", "platform"],
    },
  ],
  [
    "00u2-bob",
    {
      email: "bob@elsewhere.example",
      email_verified: true,
      preferred_username: "Bob",
      groups: ["hostler-users"],
    },
  ],
]);

/** How often each path was asked for. */
const asked = new Map();

/** A key that nobody has seen before; every second one is of another kind. */
function freshKey(algorithm) {
  const { privateKey } =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: algorithm, use: "sig" };
}

function make(issuer, algorithm) {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "hostler",
        client_secret: "a secret: with %, + and spaces",
        redirect_uris: [redirect],
        id_token_signed_response_alg: algorithm,
      },
    ],
    jwks: { keys: [freshKey(algorithm)] },
    cookies: { keys: ["only for tests"] },
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub"],
      profile: ["preferred_username"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) =>
      accounts.has(id)
        ? { accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }
        : undefined,
  });
  return provider.callback();
}

let algorithm = "RS256";
let issuer;
let answer;

async function change(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts).toString();
  const [, , what, whom] = request.url.split("/");
  if (what === "rotate") {
    algorithm = algorithm === "RS256" ? "ES256" : "RS256";
    answer = make(issuer, algorithm);
  } else if (what === "accounts") {
    accounts.set(whom, { ...accounts.get(whom), ...JSON.parse(body) });
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ algorithm, asked: Object.fromEntries(asked) }));
}

const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
const server = createServer(tls, (request, response) => {
  if (request.url.startsWith("/-/")) return change(request, response);
  const path = request.url.split("?")[0];
  asked.set(path, (asked.get(path) ?? 0) + 1);
  return answer(request, response);
});
server.listen(Number(port), "127.0.0.1", () => {
  issuer = `https://127.0.0.1:${server.address().port}`;
  answer = make(issuer, algorithm);
  console.log(`the provider is at ${issuer} .`);
});
