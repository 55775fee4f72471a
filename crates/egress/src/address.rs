//! What an address is: whose it is, and whether the whole world can reach it.
//!
//! An IPv6 address that stands for an IPv4 address is judged as that one, where packets really go there
//! (mapped, NAT64); where the embedding is a tunnel nobody should use any more (6to4, Teredo,
//! compatible, translated), it is refused as such. What is in no list is public only where addresses
//! are given out to the public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whose an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Public,
    /// Of a network of one's own: RFC 1918, unique local, site local.
    Private,
    /// Of a provider's network: RFC 6598.
    Shared,
    /// This machine.
    Loopback,
    /// This link only.
    LinkLocal,
    /// Where clouds tell a machine its credentials.
    Metadata,
    /// IPv4 inside IPv6, through a tunnel.
    Tunnel,
    /// For documentation, benchmarks, or later.
    Reserved,
    Multicast,
    /// Unspecified or broadcast: nobody in particular.
    Nowhere,
}

impl Kind {
    /// For a sentence: "10.0.0.1 is ...".
    pub fn words(self) -> &'static str {
        match self {
            Kind::Public => "a public address",
            Kind::Private => "a private address",
            Kind::Shared => "an address of a provider's own network",
            Kind::Loopback => "an address of this machine itself",
            Kind::LinkLocal => "an address of the local link",
            Kind::Metadata => "the metadata service of a cloud",
            Kind::Tunnel => "an IPv4 address inside a tunnel",
            Kind::Reserved => "a reserved address",
            Kind::Multicast => "a multicast address",
            Kind::Nowhere => "nobody's address",
        }
    }
}

/// Addresses under which clouds offer their metadata; some of them look public.
const METADATA_V4: [Ipv4Addr; 6] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Whose `address` is.
pub fn kind(address: IpAddr) -> Kind {
    match reached(address) {
        IpAddr::V4(four) => kind_v4(four),
        IpAddr::V6(six) => kind_v6(six),
    }
}

/// The address that packets really go to: an IPv4 address that is mapped, or reached through NAT64,
/// is that IPv4 address.
pub fn reached(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    match six.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        _ => address,
    }
}

fn kind_v4(address: Ipv4Addr) -> Kind {
    if METADATA_V4.contains(&address) {
        return Kind::Metadata;
    }
    match address.octets() {
        [0, ..] | [255, 255, 255, 255] => Kind::Nowhere,
        [10, ..] | [192, 168, ..] => Kind::Private,
        [172, second, ..] if (16..32).contains(&second) => Kind::Private,
        [100, second, ..] if (64..128).contains(&second) => Kind::Shared,
        [127, ..] => Kind::Loopback,
        [169, 254, ..] => Kind::LinkLocal,
        [192, 0, 0, _] | [192, 0, 2, _] | [192, 88, 99, _] => Kind::Reserved,
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => Kind::Reserved,
        [224..=239, ..] => Kind::Multicast,
        [240..=255, ..] => Kind::Reserved,
        _ => Kind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> Kind {
    if METADATA_V6.contains(&address) {
        return Kind::Metadata;
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Kind::Nowhere,
        [0, 0, 0, 0, 0, 0, 0, 1] => Kind::Loopback,
        // compatible, translated, and NAT64 of a network of one's own
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 1, ..] => {
            Kind::Tunnel
        }
        [0x2001, 0, ..] | [0x2002, ..] => Kind::Tunnel,
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => Kind::Reserved,
        [0x3fff, second, ..] if second < 0x1000 => Kind::Reserved,
        [first, ..] => match first {
            0xfc00..=0xfdff | 0xfec0..=0xfeff => Kind::Private,
            0xfe80..=0xfebf => Kind::LinkLocal,
            0xff00..=0xffff => Kind::Multicast,
            0x2000..=0x3fff => Kind::Public,
            _ => Kind::Reserved,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_of_its_kind() {
        let table = [
            (Kind::Public, "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0"),
            (Kind::Public, "126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.0 223.255.255.255"),
            (Kind::Public, "169.253.255.255 169.255.0.0 192.167.255.255 192.169.0.0 198.20.0.0"),
            (Kind::Private, "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1"),
            (Kind::Shared, "100.64.0.0 100.127.255.255"),
            (Kind::Loopback, "127.0.0.1 127.255.255.254"),
            (Kind::LinkLocal, "169.254.0.1 169.254.169.253"),
            (Kind::Metadata, "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200"),
            (Kind::Metadata, "168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254"),
            (Kind::Reserved, "192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255"),
            (Kind::Reserved, "198.51.100.7 203.0.113.9 240.0.0.1 255.255.255.254"),
            (Kind::Multicast, "224.0.0.1 239.255.255.255 ff02::1 ff0e::1"),
            (Kind::Nowhere, "0.0.0.0 0.1.2.3 255.255.255.255 :: ::ffff:0.0.0.0"),
            (Kind::Public, "2606:4700:4700::1111 2001:4860:4860::8888 2a00::1 2003::1"),
            (Kind::Private, "fc00::1 fdff::1 fec0::1"),
            (Kind::Loopback, "::1 ::ffff:127.0.0.1 64:ff9b::7f00:1"),
            (Kind::Private, "::ffff:10.0.0.1 ::ffff:192.168.1.1 64:ff9b::a00:1"),
            (Kind::Metadata, "::ffff:169.254.169.254 64:ff9b::a9fe:a9fe"),
            (Kind::Public, "::ffff:8.8.8.8 64:ff9b::808:808"),
            (Kind::LinkLocal, "fe80::1 febf::1"),
            (Kind::Tunnel, "::7f00:1 ::8.8.8.8 ::ffff:0:7f00:1 64:ff9b:1::7f00:1"),
            (Kind::Tunnel, "2002:7f00:1:: 2002:808:808:: 2001:0:4136:e378:8000:63bf:3fff:fdd2"),
            (Kind::Reserved, "2001:db8::1 2001:10::1 2001:1ff::1 3fff::1 100::1 5f00::1 4000::1"),
            (Kind::Public, "2001:200::1 3fff:1000::1 3ffe::1"),
        ];
        for (expected, addresses) in table {
            for text in addresses.split(' ') {
                assert_eq!(kind(text.parse().unwrap()), expected, "{text}");
            }
        }
    }

    #[test]
    fn no_four_becomes_public_by_being_written_as_six() {
        for text in ["10.1.2.3", "127.0.0.1", "169.254.169.254", "0.0.0.0", "100.64.1.1"] {
            let four: Ipv4Addr = text.parse().unwrap();
            let [a, b, c, d] = four.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            for six in [
                four.to_ipv6_mapped(),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, !high, !low),
            ] {
                assert_ne!(kind(six.into()), Kind::Public, "{six}");
            }
        }
    }
}
