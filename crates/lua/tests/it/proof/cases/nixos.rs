//! NixOS: what is said, and the programs that make it so.

use super::{Bench, Set, looks, repeats, settles};

pub(super) const SETS: &[Set] = &[Set {
    name: "nixos",
    prepare: machine,
    cases: &[
        settles(
            "nixos.set_option { option = 'services.nginx.virtualHosts', value = { ['example.org'] = { root = '/srv/www' } } }",
        ),
        settles("nixos.set_hostname { hostname = 'web-1' }"),
        settles("nixos.set_timezone { timezone = 'Europe/Zurich' }"),
        settles("nixos.set_locale { locale = 'en_US.UTF-8' }"),
        settles("nixos.configure_system { timezone = 'UTC', console = { keymap = 'us' } }"),
        settles("nixos.add_package { package = 'pkgs.vim' }"),
        settles("nixos.remove_package { package = 'htop' }"),
        settles(
            "nixos.configure_environment { packages = { 'git', 'vim' }, variables = { EDITOR = 'vim' } }",
        ),
        settles("nixos.add_environment_variable { name = 'EDITOR', value = 'vim' }"),
        settles("nixos.remove_environment_variable { name = 'EDITOR' }"),
        settles("nixos.enable_service { service = 'openssh' }"),
        settles("nixos.disable_service { service = 'cups' }"),
        settles(
            "nixos.configure_service { service = 'openssh', enable = true, settings = { openFirewall = true } }",
        ),
        settles("nixos.add_user { username = 'ann', groups = { 'wheel' }, shell = 'pkgs.zsh' }"),
        settles("nixos.configure_user { username = 'ann', description = 'Ann' }"),
        settles("nixos.remove_user { username = 'ann' }"),
        settles("nixos.add_ssh_key { username = 'ann', key = 'ssh-ed25519 BBBB.. ann@desk' }"),
        settles("nixos.remove_ssh_key { username = 'ann', key = 'ssh-ed25519 AAAA.. ann@laptop' }"),
        settles("nixos.add_user_to_group { username = 'ann', group = 'wheel' }"),
        settles("nixos.remove_user_from_group { username = 'ann', group = 'docker' }"),
        settles("nixos.enable_firewall()"),
        settles("nixos.configure_firewall { enable = true, tcp_ports = { 22, 443 } }"),
        settles("nixos.add_firewall_port { port = 9090 }"),
        settles("nixos.add_firewall_rule { port = 53, protocol = 'udp' }"),
        settles("nixos.remove_firewall_rule { port = 8080 }"),
        settles(
            "nixos.configure_networking { enable_network_manager = true, firewall = { enable = true, tcp_ports = { 22 } } }",
        ),
        settles("nixos.configure_docker { users = { 'ann' } }"),
        settles(
            "nixos.configure_filesystem { mount_point = '/data', device = '/dev/sdb1', fs_type = 'ext4' }",
        ),
        settles("nixos.remove_filesystem { mount_point = '/data' }"),
        settles("nixos.enable_flakes()"),
        settles(
            "nixos.add_binary_cache { url = 'https://cache.example.org', key = 'cache.example.org-1:AAAA=' }",
        ),
        settles("nixos.add_import { path = './other.nix' }"),
        settles("nixos.remove_import { path = './web.nix' }"),
        settles(
            "nixos.configure_zfs { pools = { 'tank' }, host_id = '8425e349', auto_scrub = true }",
        ),
        settles(
            "nixos.configure_container { name = 'db', auto_start = true, config = { services = { postgresql = { enable = true } } } }",
        ),
        settles(
            "nixos.configure_vlan { name = 'office', id = 20, interface = 'eth0', addresses = { { address = '10.0.20.2', prefixLength = 24 } } }",
        ),
        settles("nixos.configure_bridge { name = 'br0', interfaces = { 'eth0' } }"),
        settles(
            "nixos.configure_vpn { name = 'wg0', ips = { '10.100.0.1/24' }, listen_port = 51820, private_key_file = '/etc/wireguard/key', peers = { { publicKey = 'AAAA=', allowedIPs = { '10.100.0.2/32' } } } }",
        ),
        settles("nixos.configure_security { wheel_needs_password = true, fail2ban = true }"),
        settles(
            "nixos.configure_boot { timeout = 3, clean_tmp = true, kernel_params = { 'quiet' } }",
        ),
        settles("nixos.configure_hardware { firmware = true, amd_microcode = true }"),
        settles(
            "nixos.configure_kernel { package = 'linuxPackages_latest', sysctl = { ['net.ipv4.ip_forward'] = 1 } }",
        ),
        settles("nixos.configure_libvirt { users = { 'ann' }, on_boot = 'start' }"),
        settles(
            "nixos.configure_backup { name = 'home', paths = { '/home' }, repo = 'backup@example.org:home', encryption = { mode = 'none' }, start_at = 'daily' }",
        ),
        settles("nixos.configure_monitoring { node_exporter = true, retention = '30d' }"),
        settles(
            "nixos.configure_journald { storage = 'persistent', config = { 'SystemMaxUse=1G' } }",
        ),
        settles(
            "nixos.configure_logrotate { files = { ['/var/log/app.log'] = { frequency = 'daily', rotate = 7 } } }",
        ),
        settles("nixos.configure_xserver { layout = 'ch', variant = 'de_nodeadkeys' }"),
        settles(
            "nixos.configure_postgresql { package = 'postgresql_16', databases = { 'shop' }, users = { 'shop' }, port = 5433 }",
        ),
        settles("nixos.configure_mysql { package = 'mariadb', databases = { 'shop' } }"),
        settles("nixos.configure_redis { port = 6379, bind = '127.0.0.1' }"),
        settles("nixos.configure_mongodb { bind_ip = '127.0.0.1', replica_set = 'rs0' }"),
        settles(
            "nixos.configure_apache { admin = 'ann@example.org', virtual_hosts = { ['example.org'] = { documentRoot = '/srv/www' } } }",
        ),
        settles(
            "nixos.configure_caddy { email = 'ann@example.org', virtual_hosts = { ['example.org'] = { extraConfig = 'root * /srv/www' } } }",
        ),
        settles(
            "nixos.configure_mail_server { hostname = 'mail.example.org', domain = 'example.org', dovecot = true }",
        ),
        settles(
            "nixos.configure_dns { forwarders = { '9.9.9.9' }, zones = { ['example.org'] = { master = true, file = '/etc/bind/example.org' } } }",
        ),
        settles(
            "nixos.configure_dhcp { interfaces = { 'eth1' }, lease_time = 3600, subnets = { { id = 1, subnet = '10.0.0.0/24', pools = { { pool = '10.0.0.100 - 10.0.0.200' } } } } }",
        ),
        settles("nixos.configure_nfs { exports = { '/srv 10.0.0.0/8(ro)' } }"),
        settles(
            "nixos.configure_samba { workgroup = 'HOME', shares = { films = { path = '/srv/films', ['read only'] = 'yes' } } }",
        ),
        settles(
            "nixos.configure_ldap { server = 'ldap://ldap.example.org', base = 'dc=example,dc=org', tls = true }",
        ),
        settles("nixos.configure_acme { accept_terms = true, email = 'ann@example.org' }"),
        settles("nixos.configure_haproxy { config = { 'frontend www', '  bind :80' } }"),
        settles(
            "nixos.configure_traefik { static_config = { entryPoints = { web = { address = ':80' } } } }",
        ),
        settles("nixos.configure_squid { port = 3128 }"),
        settles(
            "nixos.configure_openvpn { name = 'office', config = 'config /etc/openvpn/office.conf' }",
        ),
        settles("nixos.configure_k3s { role = 'server', cluster_init = true }"),
        settles(
            "nixos.configure_gitlab_runner { token_file = '/etc/gitlab-runner/token', executor = 'docker', docker_image = 'alpine' }",
        ),
        settles(
            "nixos.configure_performance { governor = 'performance', zram = true, swappiness = 10 }",
        ),
        settles(
            "nixos.create_systemd_service { name = 'app', exec_start = '/srv/app/bin/app', wanted_by = { 'multi-user.target' }, restart = 'always' }",
        ),
        settles(
            "nixos.create_systemd_timer { name = 'clean', on_calendar = 'daily', persistent = true, wanted_by = { 'timers.target' } }",
        ),
        settles("nixos.set_bootloader { bootloader = 'grub', device = '/dev/sda' }"),
        settles("nixos.configure_desktop { desktop = 'plasma' }"),
        settles("nixos.configure_display_manager { manager = 'sddm', auto_login_user = 'ann' }"),
        settles("nixos.configure_audio { server = 'pipewire', alsa = true, pulse = true }"),
        settles("nixos.configure_swap { device = '/swapfile', size = 4096 }"),
        settles(
            "nixos.create_systemd_mount { what = 'nas:/films', where = '/films', type = 'nfs', wanted_by = { 'multi-user.target' } }",
        ),
        settles("nixos.add_certificate { path = '/etc/ssl/own-ca.pem' }"),
        settles("nixos.create_vm { name = 'try', memory = 2048, cpus = 2, disk = 'size=20' }"),
        settles("nixos.create_snapshot { dataset = 'tank/home', name = 'before' }"),
        settles("nixos.import_configuration { path = '/etc/site/db.nix' }"),
        settles("nixos.export_module { path = '/srv/web-1.nix' }"),
        settles("nixos.backup_config()"),
        repeats("nixos.rebuild { mode = 'switch' }"),
        repeats("nixos.rollback()"),
        repeats("nixos.switch_generation { generation = 42 }"),
        repeats("nixos.delete_generations { older_than = '30d' }"),
        repeats("nixos.collect_garbage { older_than = '30d' }"),
        repeats("nixos.optimize_store()"),
        repeats("nixos.update_channels()"),
        looks("nixos.list_channels()"),
        looks("nixos.list_generations()"),
        looks("nixos.get_current_generation()"),
        looks("nixos.validate_config()"),
        looks("nixos.test_config()"),
        looks("nixos.get_config()"),
        looks("nixos.get_config_value { option = 'networking.hostName' }"),
        looks("nixos.user_exists { username = 'ann' }"),
        looks("nixos.list_users()"),
        looks("nixos.list_packages()"),
        looks("nixos.list_services()"),
    ],
}];

fn machine(bench: &Bench) {
    bench.write(
        "root/etc/nixos/configuration.nix",
        "{ config, pkgs, ... }:\n{\n  imports =\n    [ ./hostler.nix\n      ./hardware-configuration.nix\n      ./web.nix\n    ];\n}\n",
    );
    let said = serde_json::json!({
        "environment": {
            "systemPackages": [{ "_package": "htop" }],
            "variables": { "EDITOR": "vi" },
        },
        "fileSystems": { "/data": { "device": "/dev/sdz" } },
        "networking": {
            "hostName": "old",
            "firewall": { "allowedTCPPorts": [8080], "enable": false },
        },
        "services": { "cups": { "enable": true } },
        "users": { "users": { "ann": {
            "extraGroups": ["docker"],
            "openssh": { "authorizedKeys": { "keys": ["ssh-ed25519 AAAA.. ann@laptop"] } },
        } } },
    });
    let said = serde_json::to_string_pretty(&said).unwrap() + "\n";
    bench.write("root/etc/nixos/hostler.json", &said);
    let reader = include_str!("../../../../src/modules/system/nixos/hostler.nix");
    bench.write("root/etc/nixos/hostler.nix", reader);
    bench.write("root/etc/site/db.nix", "{ services.postgresql.enable = true; }\n");
    std::fs::create_dir(bench.0.path("root/srv")).unwrap();
    bench.tool("virt-install", "", "touch \"$S/vm\"");
    bench.tool("virsh", "dominfo*", "test -e \"$S/vm\"");
    bench.tool(
        "zfs",
        "list*",
        "case \"$1\" in list) test -e \"$S/snapshot\";; *) touch \"$S/snapshot\";; esac",
    );
    bench.tool("nixos-rebuild", "dry-*", "echo 'building the system configuration...'");
    bench.tool(
        "nix-env",
        "--list-generations*",
        "case \"$1\" in --list*) printf '  41   2026-01-01 10:00:00\\n  42   2026-01-02 10:00:00   (current)\\n';; esac",
    );
    bench.tool(
        "nix-channel",
        "--list",
        "case \"$1\" in --list) echo 'nixos https://channels.example.org';; esac",
    );
    bench.tool("switch-to-configuration", "", "");
    let bin = bench.0.path("root/nix/var/nix/profiles/system/bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = bench.0.path("bin/switch-to-configuration");
    std::fs::rename(program, bin.join("switch-to-configuration")).unwrap();
    bench.tool("nix-store", "", "").tool("nix-collect-garbage", "", "");
}
