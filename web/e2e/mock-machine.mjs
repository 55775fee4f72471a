// Machines of nodes in the mock: what they answer when they are looked at, and what they do when told.

import { uuid7 } from "./mock-content.mjs";
import { find, later, Refusal } from "./mock-world.mjs";

const GIB = 2 ** 30;
const BEGUN_MS = 300;
const DONE_MS = 1200;
const now = () => new Date().toISOString();
const before = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

const SERVICES = [
  ["chrony.service", "running", "active", "NTP client and server"],
  ["cron.service", "running", "active", "Regular background program processing daemon"],
  ["hostler-agent.service", "running", "active", "Agent of Hostler"],
  ["logrotate.service", "dead", "inactive", "Rotate log files"],
  ["networking.service", "exited", "active", "Raise network interfaces"],
  [
    "nginx.service",
    "running",
    "active",
    "A high performance web server and a reverse proxy server",
  ],
  ["postgresql.service", "failed", "failed", "PostgreSQL RDBMS"],
  ["ssh.service", "running", "active", "OpenBSD Secure Shell server"],
];
const PROCESSES = [
  [
    4711,
    "ffmpeg",
    "render",
    "ffmpeg -i in.mov -c:v libx265 -preset slow -crf 22 out.mkv",
    3.61,
    2.4,
  ],
  [
    911,
    "postgres",
    "postgres",
    "/usr/lib/postgresql/17/bin/postgres -D /var/lib/postgresql/17/main",
    0.42,
    1.1,
  ],
  [640, "hostler", "root", "/usr/local/bin/hostler agent run", 0.021, 0.04],
  [702, "nginx", "www-data", "nginx: worker process", 0.013, 0.02],
  [701, "nginx", "root", "nginx: master process /usr/sbin/nginx", 0, 0.01],
  [1, "systemd", "root", "/sbin/init", 0, 0.012],
  [8123, "sh", "render", "", 0, 0],
];
const PACKAGES = [
  ["bash", "5.2.37-2", "GNU Bourne Again SHell"],
  ["chrony", "4.6.1-3", "Versatile implementation of the Network Time Protocol"],
  ["libssl3t64", "3.5.1-1", "Secure Sockets Layer toolkit - shared libraries"],
  ["nginx", "1.26.3-3", "small, powerful, scalable web/proxy server"],
  ["openssl", "3.5.1-1", "Secure Sockets Layer toolkit - cryptographic utility"],
  ["postgresql-17", "17.5-1", "The World's Most Advanced Open Source Relational Database"],
];
const LINES = [
  ["systemd", 6, "Starting postgresql.service - PostgreSQL RDBMS..."],
  ["postgres", 3, 'FATAL:  could not write lock file "postmaster.pid": No space left on device'],
  ["systemd", 4, "postgresql.service: Failed with result 'exit-code'."],
  ["sshd", 6, "Accepted publickey for ada from 10.0.3.7 port 52114 ssh2: ED25519"],
  ["kernel", 4, "nvme nvme0: I/O 271 QID 4 timeout, completion polled"],
  ["nginx", 5, '10.0.3.9 - "GET /healthz HTTP/1.1" 200'],
];

function mount(point, device, size, used, more = {}) {
  return {
    point,
    device,
    filesystem: "ext4",
    size: size * GIB,
    used: used * GIB,
    available: (size - used) * 0.95 * GIB,
    inodes: 6_553_600,
    inodesUsed: 812_000,
    isReadOnly: false,
    ...more,
  };
}

const MOUNTS = [
  mount("/", "/dev/nvme0n1p2", 58, 21),
  mount("/var", "/dev/nvme0n1p3", 240, 223),
  mount("/boot/efi", "/dev/nvme0n1p1", 0.5, 0.01, { filesystem: "vfat", inodes: 0, inodesUsed: 0 }),
  mount("/srv/images", "10.0.3.2:/images", 4000, 900, { filesystem: "nfs4", isReadOnly: true }),
];

/** What is different on it since it was told something. */
function machineOf(world, name) {
  const node = find(world.nodes, name, "node");
  if (node.state !== "online" && node.state !== "stale")
    throw new Refusal(409, "conflict", `${node.name} is offline`, "wait until it is back");
  world.machines ??= new Map();
  if (!world.machines.has(node.id))
    world.machines.set(node.id, {
      node,
      services: SERVICES.map(([name, state, active, description]) => ({
        name,
        state,
        active,
        description,
      })),
      processes: PROCESSES.map(([pid, name, user, command, cpu, memory]) => ({
        pid,
        parent: pid === 1 ? 0 : 1,
        user,
        name,
        command,
        state: pid === 8123 ? "Z" : cpu > 1 ? "R" : "S",
        cpu,
        memory: Math.round(memory * GIB),
        threads: 4,
        startTicks: pid * 100,
        timeStarted: before(pid * 60),
      })),
    });
  return world.machines.get(node.id);
}

function health({ services }) {
  const failed = services.filter(({ state }) => state === "failed").map(({ name }) => name);
  const findings = [
    ...failed.map((name) => ({
      about: "services",
      level: "critical",
      message: `${name} failed; \`hostler node services status ${name}\` says why`,
    })),
    {
      about: "disk",
      level: "warning",
      message:
        "/var is 93 % full, 16GiB are available; `hostler node disk --largest /var` shows what fills it",
    },
  ];
  return {
    level: findings[0].level,
    findings,
    vitals: {
      time: now(),
      uptimeSeconds: 3_560_000,
      cores: 16,
      load: [3.61, 2.9, 1.44],
      memory: 64 * GIB,
      memoryAvailable: 41 * GIB,
      swap: 8 * GIB,
      swapFree: 7.6 * GIB,
      mounts: MOUNTS,
      failedServices: failed,
      temperatures: [{ sensor: "coretemp Package id 0", celsius: 61, critical: 100 }],
      reboot: "linux-image-6.12 wants it",
      certificateExpires: before(-5_000_000),
      zombies: 1,
    },
  };
}

function services({ services: all }, query) {
  const [name, state, filter] = ["name", "state", "filter"].map((key) => query.get(key));
  const found = all
    .filter((one) => !name || one.name === name)
    .filter((one) => !state || one.state === state)
    .filter((one) => !filter || one.name.includes(filter))
    .map((one) =>
      name
        ? {
            ...one,
            boot: "enabled",
            status: `● ${one.name} - ${one.description}\n     Loaded: loaded (/lib/systemd/system/${one.name}; enabled)\n     Active: ${one.active} (${one.state})\n   Main PID: 702`,
          }
        : one,
    );
  return { init: "systemd", services: found, total: found.length };
}

function processes({ processes: all }, query) {
  const order = query.get("order") ?? "cpu";
  const filter = query.get("filter") ?? "";
  const rank = { cpu: "cpu", memory: "memory", started: "startTicks" }[order];
  const found = all
    .filter(({ name, command }) => `${name} ${command}`.includes(filter))
    .toSorted((one, other) => (rank ? other[rank] - one[rank] : one.pid - other.pid));
  return { processes: found, total: found.length };
}

function packages(_, query) {
  const filter = query.get("filter") ?? "";
  const which = query.get("which");
  const found = PACKAGES.filter(([name]) => name.includes(filter))
    .filter(([name]) => which !== "upgradable" || name.includes("ssl"))
    .map(([name, version, description]) => ({ name, version, description }));
  return { manager: "apt", packages: found, total: found.length };
}

function disks(_, query) {
  const below = query.get("largest");
  const tree = (name, size, files) => ({
    path: `${below === "/" ? "" : below}/${name}`,
    size: size * GIB,
    isDirectory: files > 1,
    files,
  });
  const largest = [tree("lib", 171, 81_204), tree("cache", 31, 9_511), tree("core.4711", 12, 1)];
  return { mounts: MOUNTS, ...(below && { largest }) };
}

function users(_, query) {
  const all = [
    ["root", 0, ["root"], "root", true, true, 1],
    ["www-data", 33, ["www-data"], "", true, true, 0],
    ["ada", 1000, ["ada", "sudo", "docker"], "Ada", false, false, 2],
    ["render", 1001, ["render", "video"], "Rendering", false, true, 0],
  ].map(([name, uid, groups, comment, isSystem, isLocked, keys]) => ({
    name,
    uid,
    groups,
    comment,
    home: name === "root" ? "/root" : `/srv/people/${name}`,
    shell: "/bin/bash",
    isSystem,
    isLocked,
    keys,
  }));
  const filter = query.get("filter") ?? "";
  return {
    users: all
      .filter(({ isSystem }) => !isSystem || query.get("system") === "true")
      .filter(({ name }) => name.includes(filter)),
  };
}

function logs(_, query) {
  const count = Number(query.get("lines") ?? 100);
  const [service, file, grep] = ["service", "file", "grep"].map((key) => query.get(key));
  const least = Number(query.get("priority") ?? 7);
  const kernel = query.get("kernel") === "true";
  const all = Array.from({ length: 60 }, (_, at) => {
    const [by, priority, text] = LINES[at % LINES.length];
    return { time: before((60 - at) * 7), by, priority, text };
  })
    .filter(({ by }) => (!service || by === service) && (!kernel || by === "kernel"))
    .filter(({ priority }) => priority <= least)
    .filter(({ text }) => !grep || new RegExp(grep).test(text))
    .map((line) => (file ? { text: line.text } : line));
  const source = file ?? (kernel ? "kernel" : "journal");
  return { source, lines: all.slice(-count), isCut: all.length > count };
}

const ANSWERS = { health, services, processes, packages, disks, users, logs };

/** What comes of a deed, as the operation's step says it. */
function act(machine, deed) {
  if (deed.do === "signal") {
    const found = machine.processes.find(
      ({ pid, startTicks }) => pid === deed.pid && startTicks === deed.startTicks,
    );
    if (!found) return { error: `there is no process ${deed.pid} any more` };
    if (deed.signal === "term" || deed.signal === "kill")
      machine.processes = machine.processes.filter((one) => one !== found);
    return { message: `${deed.signal} reached ${found.name} (${found.pid})`, changes: [] };
  }
  const service = machine.services.find(({ name }) => name === deed.name);
  if (!service) return { error: `there is no service ${deed.name}` };
  const earlier = service.state;
  const isUp = deed.verb !== "stop";
  Object.assign(service, {
    state: isUp ? "running" : "dead",
    active: isUp ? "active" : "inactive",
  });
  return {
    message: `${deed.name} ${isUp ? "runs" : "is stopped"}`,
    changes: [{ what: `service ${deed.name}`, before: earlier, after: service.state }],
  };
}

function begin(world, machine, deed) {
  world.operations ??= new Map();
  const step = { name: "act", state: "waiting", message: "" };
  const operation = {
    id: uuid7(),
    plan: { kind: "node-deed", node: machine.node.id, deed, until: before(-3600) },
    state: "pending",
    steps: [step],
    isCancelRequested: false,
    createdBy: { kind: "user", name: "mira" },
    generation: 1,
    timeCreated: now(),
    timeModified: now(),
  };
  world.operations.set(operation.id, operation);
  later(world, BEGUN_MS, () => (operation.state = step.state = "running"));
  later(world, DONE_MS, () => {
    const { error, message = "", changes = [] } = act(machine, deed);
    operation.state = step.state = error ? "failed" : "succeeded";
    if (error) operation.error = error;
    else Object.assign(step, { message, result: { changed: true, message, changes } });
    operation.timeEnded = now();
  });
  return structuredClone(operation);
}

export const MACHINE_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)\/(?<what>health|services|processes|packages|disks|users|logs)$/,
    "operator",
    ({ world, path, query }) => ANSWERS[path.what](machineOf(world, path.node), query),
  ],
  [
    "POST",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)\/deeds$/,
    "admin",
    ({ world, path, body }) => begin(world, machineOf(world, path.node), body.deed),
  ],
];
