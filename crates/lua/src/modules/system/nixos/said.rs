//! Functions of `nixos` that say options one by one, as data.
//!
//! The words of a function say which option each of its fields is: `port=.settings/port:number` is the field `port`, the
//! option `settings.port` below that of the function, and a number. `{name}` in a path is the field of that name,
//! `{name|main}` has a default. What stands behind the colon is how a value is read (`settings`); `+path:word` always
//! puts a word into a list. Beside its fields a function takes `settings`: any further options below its own.

use super::described::own;
use super::settings::Setting;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        below: "",
        words: "+boot/supportedFilesystems:zfs pools=boot/zfs/extraPools:list host_id=networking/hostId:text auto_scrub=services/zfs/autoScrub/enable:flag auto_snapshot=services/zfs/autoSnapshot/enable:flag trim=services/zfs/trim/enable:flag",
        described: own(
            "configure_zfs",
            "{ pools, host_id, auto_scrub, auto_snapshot, trim } -> result, result | nil, error",
            "ZFS: pools that are imported at boot, and what is done for them regularly.",
            "local function setup()\n  assert(nixos.configure_zfs { pools = { 'tank' }, host_id = '8425e349', auto_scrub = true })\nend",
        ),
    },
    Setting {
        below: "containers/{name}",
        words: "auto_start=.autoStart:flag private_network=.privateNetwork:flag host_address=.hostAddress:text local_address=.localAddress:text ephemeral=.ephemeral:flag bind_mounts=.bindMounts:map forward_ports=.forwardPorts:any config=.config:map",
        described: own(
            "configure_container",
            "{ name, auto_start, private_network, host_address, local_address, ephemeral, bind_mounts, forward_ports, config, settings } -> result, result | nil, error",
            "A container of NixOS; `config` are the options of what runs in it.",
            "local function setup()\n  assert(nixos.configure_container { name = 'db', auto_start = true, config = { services = { postgresql = { enable = true } } } })\nend",
        ),
    },
    Setting {
        below: "networking/vlans/{name}",
        words: "id=.id:number interface=.interface:text addresses=networking/interfaces/{name}/ipv4/addresses:any",
        described: own(
            "configure_vlan",
            "{ name, id, interface, addresses, settings } -> result, result | nil, error",
            "A VLAN on an interface; `addresses` are of the form `{ address, prefixLength }`.",
            "local function setup()\n  assert(nixos.configure_vlan { name = 'office', id = 20, interface = 'eth0', addresses = { { address = '10.0.20.2', prefixLength = 24 } } })\nend",
        ),
    },
    Setting {
        below: "networking/bridges/{name}",
        words: "interfaces=.interfaces:list addresses=networking/interfaces/{name}/ipv4/addresses:any",
        described: own(
            "configure_bridge",
            "{ name, interfaces, addresses, settings } -> result, result | nil, error",
            "A bridge of interfaces.",
            "local function setup()\n  assert(nixos.configure_bridge { name = 'br0', interfaces = { 'eth0' } })\nend",
        ),
    },
    Setting {
        below: "networking/wireguard/interfaces/{name}",
        words: "ips=.ips:list listen_port=.listenPort:number private_key_file=.privateKeyFile:text peers=.peers:any",
        described: own(
            "configure_vpn",
            "{ name, ips, listen_port, private_key_file, peers, settings } -> result, result | nil, error",
            "An interface of WireGuard; the key stays in a file of its own.",
            "local function setup()\n  assert(nixos.configure_vpn { name = 'wg0', ips = { '10.100.0.1/24' }, listen_port = 51820, private_key_file = '/etc/wireguard/key', peers = { { publicKey = 'AAAA=', allowedIPs = { '10.100.0.2/32' } } } })\nend",
        ),
    },
    Setting {
        below: "security",
        words: "wheel_needs_password=.sudo/wheelNeedsPassword:flag polkit=.polkit/enable:flag apparmor=.apparmor/enable:flag auditd=.auditd/enable:flag protect_kernel_image=.protectKernelImage:flag lock_kernel_modules=.lockKernelModules:flag fail2ban=services/fail2ban/enable:flag",
        described: own(
            "configure_security",
            "{ wheel_needs_password, polkit, apparmor, auditd, protect_kernel_image, lock_kernel_modules, fail2ban, settings } -> result, result | nil, error",
            "What keeps people from doing what they should not.",
            "local function setup()\n  assert(nixos.configure_security { wheel_needs_password = true, fail2ban = true })\nend",
        ),
    },
    Setting {
        below: "boot",
        words: "timeout=.loader/timeout:number kernel_params=.kernelParams:list kernel_modules=.kernelModules:list initrd_modules=.initrd/availableKernelModules:list clean_tmp=.tmp/cleanOnBoot:flag supported_filesystems=.supportedFilesystems:list",
        described: own(
            "configure_boot",
            "{ timeout, kernel_params, kernel_modules, initrd_modules, clean_tmp, supported_filesystems, settings } -> result, result | nil, error",
            "How the machine comes up.",
            "local function setup()\n  assert(nixos.configure_boot { timeout = 3, clean_tmp = true, kernel_params = { 'quiet' } })\nend",
        ),
    },
    Setting {
        below: "hardware",
        words: "bluetooth=.bluetooth/enable:flag firmware=.enableRedistributableFirmware:flag graphics=.graphics/enable:flag intel_microcode=.cpu/intel/updateMicrocode:flag amd_microcode=.cpu/amd/updateMicrocode:flag",
        described: own(
            "configure_hardware",
            "{ bluetooth, firmware, graphics, intel_microcode, amd_microcode, settings } -> result, result | nil, error",
            "What the machine has, and needs something for.",
            "local function setup()\n  assert(nixos.configure_hardware { firmware = true, amd_microcode = true })\nend",
        ),
    },
    Setting {
        below: "boot",
        words: "package=.kernelPackages:package params=.kernelParams:list modules=.kernelModules:list blacklist=.blacklistedKernelModules:list sysctl=.kernel/sysctl:merge",
        described: own(
            "configure_kernel",
            "{ package, params, modules, blacklist, sysctl, settings } -> result, result | nil, error",
            "The kernel: which, with which modules, and its settings.",
            "local function setup()\n  assert(nixos.configure_kernel { package = 'linuxPackages_latest', sysctl = { ['net.ipv4.ip_forward'] = 1 } })\nend",
        ),
    },
    Setting {
        below: "virtualisation/libvirtd",
        words: "enable=.enable:on on_boot=.onBoot:text on_shutdown=.onShutdown:text users=libvirtd:group",
        described: own(
            "configure_libvirt",
            "{ enable, on_boot, on_shutdown, users, settings } -> result, result | nil, error",
            "Virtual machines with libvirt, and who may use them.",
            "local function setup()\n  assert(nixos.configure_libvirt { users = { 'ann' }, on_boot = 'start' })\nend",
        ),
    },
    Setting {
        below: "services/borgbackup/jobs/{name}",
        words: "paths=.paths:list repo=.repo:text encryption=.encryption:map start_at=.startAt:text compression=.compression:text exclude=.exclude:list",
        described: own(
            "configure_backup",
            "{ name, paths, repo, encryption, start_at, compression, exclude, settings } -> result, result | nil, error",
            "A copy that Borg makes regularly.",
            "local function setup()\n  assert(nixos.configure_backup { name = 'home', paths = { '/home' }, repo = 'backup@example.org:home', encryption = { mode = 'none' }, start_at = 'daily' })\nend",
        ),
    },
    Setting {
        below: "services/prometheus",
        words: "enable=.enable:on port=.port:number retention=.retentionTime:text scrape_configs=.scrapeConfigs:any node_exporter=.exporters/node/enable:flag grafana=services/grafana/enable:flag",
        described: own(
            "configure_monitoring",
            "{ enable, port, retention, scrape_configs, node_exporter, grafana, settings } -> result, result | nil, error",
            "Prometheus, what it asks, and Grafana beside it.",
            "local function setup()\n  assert(nixos.configure_monitoring { node_exporter = true, retention = '30d' })\nend",
        ),
    },
    Setting {
        below: "services/journald",
        words: "storage=.storage:text rate_limit_burst=.rateLimitBurst:number rate_limit_interval=.rateLimitInterval:text config=.extraConfig:lines",
        described: own(
            "configure_journald",
            "{ storage, rate_limit_burst, rate_limit_interval, config, settings } -> result, result | nil, error",
            "What the journal keeps; `config` are lines of its configuration.",
            "local function setup()\n  assert(nixos.configure_journald { storage = 'persistent', config = { 'SystemMaxUse=1G' } })\nend",
        ),
    },
    Setting {
        below: "services/logrotate",
        words: "enable=.enable:on files=.settings:merge",
        described: own(
            "configure_logrotate",
            "{ enable, files, settings } -> result, result | nil, error",
            "Which files are rotated, and how.",
            "local function setup()\n  assert(nixos.configure_logrotate { files = { ['/var/log/app.log'] = { frequency = 'daily', rotate = 7 } } })\nend",
        ),
    },
    Setting {
        below: "services/xserver",
        words: "enable=.enable:on layout=.xkb/layout:text variant=.xkb/variant:text video_drivers=.videoDrivers:list",
        described: own(
            "configure_xserver",
            "{ enable, layout, variant, video_drivers, settings } -> result, result | nil, error",
            "The X server, its keyboard and drivers.",
            "local function setup()\n  assert(nixos.configure_xserver { layout = 'ch', variant = 'de_nodeadkeys' })\nend",
        ),
    },
    Setting {
        below: "services/postgresql",
        words: "enable=.enable:on package=.package:package port=.settings/port:number databases=.ensureDatabases:list users=.ensureUsers:named authentication=.authentication:lines enable_tcp=.enableTCPIP:flag data_dir=.dataDir:text",
        described: own(
            "configure_postgresql",
            "{ enable, package, port, databases, users, authentication, enable_tcp, data_dir, settings } -> result, result | nil, error",
            "PostgreSQL, with databases and users that are to be there.",
            "local function setup()\n  assert(nixos.configure_postgresql { package = 'postgresql_16', databases = { 'shop' }, users = { 'shop' }, port = 5433 })\nend",
        ),
    },
    Setting {
        below: "services/mysql",
        words: "enable=.enable:on package=.package:package databases=.ensureDatabases:list users=.ensureUsers:named port=.settings/mysqld/port:number data_dir=.dataDir:text",
        described: own(
            "configure_mysql",
            "{ enable, package, databases, users, port, data_dir, settings } -> result, result | nil, error",
            "MySQL or MariaDB: `package` says which, and has to be said once.",
            "local function setup()\n  assert(nixos.configure_mysql { package = 'mariadb', databases = { 'shop' } })\nend",
        ),
    },
    Setting {
        below: "services/redis/servers/{name|main}",
        words: "enable=.enable:on port=.port:number bind=.bind:text password_file=.requirePassFile:text databases=.databases:number",
        described: own(
            "configure_redis",
            "{ name, enable, port, bind, password_file, databases, settings } -> result, result | nil, error",
            "A server of Redis, `main` where no name is told.",
            "local function setup()\n  assert(nixos.configure_redis { port = 6379, bind = '127.0.0.1' })\nend",
        ),
    },
    Setting {
        below: "services/mongodb",
        words: "enable=.enable:on package=.package:package bind_ip=.bind_ip:text auth=.enableAuth:flag db_path=.dbpath:text replica_set=.replSetName:text",
        described: own(
            "configure_mongodb",
            "{ enable, package, bind_ip, auth, db_path, replica_set, settings } -> result, result | nil, error",
            "MongoDB.",
            "local function setup()\n  assert(nixos.configure_mongodb { bind_ip = '127.0.0.1', replica_set = 'rs0' })\nend",
        ),
    },
    Setting {
        below: "services/httpd",
        words: "enable=.enable:on admin=.adminAddr:text virtual_hosts=.virtualHosts:merge modules=.extraModules:list",
        described: own(
            "configure_apache",
            "{ enable, admin, virtual_hosts, modules, settings } -> result, result | nil, error",
            "Apache's web server and its hosts.",
            "local function setup()\n  assert(nixos.configure_apache { admin = 'ann@example.org', virtual_hosts = { ['example.org'] = { documentRoot = '/srv/www' } } })\nend",
        ),
    },
    Setting {
        below: "services/caddy",
        words: "enable=.enable:on email=.email:text virtual_hosts=.virtualHosts:merge config=.extraConfig:lines",
        described: own(
            "configure_caddy",
            "{ enable, email, virtual_hosts, config, settings } -> result, result | nil, error",
            "Caddy and its hosts.",
            "local function setup()\n  assert(nixos.configure_caddy { email = 'ann@example.org', virtual_hosts = { ['example.org'] = { extraConfig = 'root * /srv/www' } } })\nend",
        ),
    },
    Setting {
        below: "services/postfix",
        words: "enable=.enable:on hostname=.hostname:text domain=.domain:text networks=.networks:list relay_host=.relayHost:text dovecot=services/dovecot2/enable:flag",
        described: own(
            "configure_mail_server",
            "{ enable, hostname, domain, networks, relay_host, dovecot, settings } -> result, result | nil, error",
            "Postfix, and Dovecot beside it.",
            "local function setup()\n  assert(nixos.configure_mail_server { hostname = 'mail.example.org', domain = 'example.org', dovecot = true })\nend",
        ),
    },
    Setting {
        below: "services/bind",
        words: "enable=.enable:on forwarders=.forwarders:list listen_on=.listenOn:list cache_networks=.cacheNetworks:list zones=.zones:merge",
        described: own(
            "configure_dns",
            "{ enable, forwarders, listen_on, cache_networks, zones, settings } -> result, result | nil, error",
            "A name server (BIND) and its zones.",
            "local function setup()\n  assert(nixos.configure_dns { forwarders = { '9.9.9.9' }, zones = { ['example.org'] = { master = true, file = '/etc/bind/example.org' } } })\nend",
        ),
    },
    Setting {
        below: "services/kea/dhcp4",
        words: "enable=.enable:on interfaces=.settings/interfaces-config/interfaces:list subnets=.settings/subnet4:any lease_time=.settings/valid-lifetime:number",
        described: own(
            "configure_dhcp",
            "{ enable, interfaces, subnets, lease_time, settings } -> result, result | nil, error",
            "A server of DHCP (Kea) and its subnets.",
            "local function setup()\n  assert(nixos.configure_dhcp { interfaces = { 'eth1' }, lease_time = 3600, subnets = { { id = 1, subnet = '10.0.0.0/24', pools = { { pool = '10.0.0.100 - 10.0.0.200' } } } } })\nend",
        ),
    },
    Setting {
        below: "services/nfs/server",
        words: "enable=.enable:on exports=.exports:lines",
        described: own(
            "configure_nfs",
            "{ enable, exports, settings } -> result, result | nil, error",
            "What is shared with NFS, as lines of `exports`.",
            "local function setup()\n  assert(nixos.configure_nfs { exports = { '/srv 10.0.0.0/8(ro)' } })\nend",
        ),
    },
    Setting {
        below: "services/samba",
        words: "enable=.enable:on open_firewall=.openFirewall:flag workgroup=.settings/global/workgroup:text shares=.settings:merge",
        described: own(
            "configure_samba",
            "{ enable, open_firewall, workgroup, shares, settings } -> result, result | nil, error",
            "What is shared with Samba.",
            "local function setup()\n  assert(nixos.configure_samba { workgroup = 'HOME', shares = { films = { path = '/srv/films', ['read only'] = 'yes' } } })\nend",
        ),
    },
    Setting {
        below: "users/ldap",
        words: "enable=.enable:on server=.server:text base=.base:text bind_dn=.bind/distinguishedName:text tls=.useTLS:flag daemon=.daemon/enable:flag",
        described: own(
            "configure_ldap",
            "{ enable, server, base, bind_dn, tls, daemon, settings } -> result, result | nil, error",
            "Accounts from a directory.",
            "local function setup()\n  assert(nixos.configure_ldap { server = 'ldap://ldap.example.org', base = 'dc=example,dc=org', tls = true })\nend",
        ),
    },
    Setting {
        below: "security/acme",
        words: "accept_terms=.acceptTerms:flag email=.defaults/email:text server=.defaults/server:text dns_provider=.defaults/dnsProvider:text certs=.certs:merge",
        described: own(
            "configure_acme",
            "{ accept_terms, email, server, dns_provider, certs, settings } -> result, result | nil, error",
            "Certificates from an authority that asks the machine itself; its terms are yours to accept.",
            "local function setup()\n  assert(nixos.configure_acme { accept_terms = true, email = 'ann@example.org' })\nend",
        ),
    },
    Setting {
        below: "services/haproxy",
        words: "enable=.enable:on config=.config:lines",
        described: own(
            "configure_haproxy",
            "{ enable, config, settings } -> result, result | nil, error",
            "HAProxy, by the lines of its configuration.",
            "local function setup()\n  assert(nixos.configure_haproxy { config = { 'frontend www', '  bind :80' } })\nend",
        ),
    },
    Setting {
        below: "services/traefik",
        words: "enable=.enable:on static_config=.staticConfigOptions:map dynamic_config=.dynamicConfigOptions:map group=.group:text data_dir=.dataDir:text",
        described: own(
            "configure_traefik",
            "{ enable, static_config, dynamic_config, group, data_dir, settings } -> result, result | nil, error",
            "Traefik: what it is started with, and what it routes.",
            "local function setup()\n  assert(nixos.configure_traefik { static_config = { entryPoints = { web = { address = ':80' } } } })\nend",
        ),
    },
    Setting {
        below: "services/squid",
        words: "enable=.enable:on port=.proxyPort:number address=.proxyAddress:text config=.extraConfig:lines",
        described: own(
            "configure_squid",
            "{ enable, port, address, config, settings } -> result, result | nil, error",
            "A proxy (Squid).",
            "local function setup()\n  assert(nixos.configure_squid { port = 3128 })\nend",
        ),
    },
    Setting {
        below: "services/openvpn/servers/{name}",
        words: "config=.config:lines auto_start=.autoStart:flag up=.up:lines down=.down:lines",
        described: own(
            "configure_openvpn",
            "{ name, config, auto_start, up, down, settings } -> result, result | nil, error",
            "A connection of OpenVPN, by the lines of its configuration.",
            "local function setup()\n  assert(nixos.configure_openvpn { name = 'office', config = 'config /etc/openvpn/office.conf' })\nend",
        ),
    },
    Setting {
        below: "services/k3s",
        words: "enable=.enable:on role=.role:text token_file=.tokenFile:text server=.serverAddr:text cluster_init=.clusterInit:flag flags=.extraFlags:list",
        described: own(
            "configure_k3s",
            "{ enable, role, token_file, server, cluster_init, flags, settings } -> result, result | nil, error",
            "A node of k3s.",
            "local function setup()\n  assert(nixos.configure_k3s { role = 'server', cluster_init = true })\nend",
        ),
    },
    Setting {
        below: "services/gitlab-runner/services/{name|default}",
        words: "enable=services/gitlab-runner/enable:on concurrent=services/gitlab-runner/settings/concurrent:number token_file=.authenticationTokenConfigFile:text executor=.executor:text docker_image=.dockerImage:text",
        described: own(
            "configure_gitlab_runner",
            "{ name, enable, concurrent, token_file, executor, docker_image, settings } -> result, result | nil, error",
            "A runner of GitLab; its token stays in a file.",
            "local function setup()\n  assert(nixos.configure_gitlab_runner { token_file = '/etc/gitlab-runner/token', executor = 'docker', docker_image = 'alpine' })\nend",
        ),
    },
    Setting {
        below: "",
        words: "governor=powerManagement/cpuFreqGovernor:text zram=zramSwap/enable:flag zram_percent=zramSwap/memoryPercent:number swappiness=boot/kernel/sysctl/vm.swappiness:number irqbalance=services/irqbalance/enable:flag thermald=services/thermald/enable:flag",
        described: own(
            "configure_performance",
            "{ governor, zram, zram_percent, swappiness, irqbalance, thermald } -> result, result | nil, error",
            "How fast, and at what cost.",
            "local function setup()\n  assert(nixos.configure_performance { governor = 'performance', zram = true, swappiness = 10 })\nend",
        ),
    },
    Setting {
        below: "systemd/services/{name}",
        words: "description=.description:text after=.after:list wants=.wants:list requires=.requires:list wanted_by=.wantedBy:list environment=.environment:map exec_start=.serviceConfig/ExecStart:text! exec_stop=.serviceConfig/ExecStop:text exec_reload=.serviceConfig/ExecReload:text type=.serviceConfig/Type:text user=.serviceConfig/User:text group=.serviceConfig/Group:text working_directory=.serviceConfig/WorkingDirectory:text restart=.serviceConfig/Restart:text restart_sec=.serviceConfig/RestartSec:number",
        described: own(
            "create_systemd_service",
            "{ name, description, after, wants, requires, wanted_by, environment, exec_start, exec_stop, exec_reload, type, user, group, working_directory, restart, restart_sec, settings } -> result, result | nil, error",
            "A service of systemd. Name what wants it, such as `multi-user.target`, where it is to start at boot.",
            "local function setup()\n  assert(nixos.create_systemd_service { name = 'app', exec_start = '/srv/app/bin/app', wanted_by = { 'multi-user.target' }, restart = 'always' })\nend",
        ),
    },
    Setting {
        below: "systemd/timers/{name}",
        words: "description=.description:text wanted_by=.wantedBy:list on_calendar=.timerConfig/OnCalendar:text on_boot_sec=.timerConfig/OnBootSec:text on_unit_active_sec=.timerConfig/OnUnitActiveSec:text persistent=.timerConfig/Persistent:flag unit=.timerConfig/Unit:text",
        described: own(
            "create_systemd_timer",
            "{ name, description, wanted_by, on_calendar, on_boot_sec, on_unit_active_sec, persistent, unit, settings } -> result, result | nil, error",
            "When a unit of systemd is started.",
            "local function setup()\n  assert(nixos.create_systemd_timer { name = 'clean', on_calendar = 'daily', persistent = true, wanted_by = { 'timers.target' } })\nend",
        ),
    },
];
