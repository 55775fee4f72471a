//! Addresses and networks that rules speak of, in one writing each.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::HostError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Net {
    address: IpAddr,
    bits: u8,
}

impl Net {
    pub fn is_v6(&self) -> bool {
        self.address.is_ipv6()
    }
}

impl FromStr for Net {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Net, HostError> {
        let problem = "write an address or a network such as `10.0.0.0/8`";
        let refuse = || HostError::invalid("the address", text, problem);
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| refuse())?;
        let width: u8 = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => width,
            Some(bits) if bits.bytes().all(|b| b.is_ascii_digit()) => {
                bits.parse().ok().filter(|bits| *bits <= width).ok_or_else(refuse)?
            }
            Some(_) => return Err(refuse()),
        };
        Ok(Net { address: masked(address, bits), bits })
    }
}

/// The address with what is beyond the network set to zero, as firewalls print it.
fn masked(address: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            IpAddr::from((four.to_bits() & mask).to_be_bytes())
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            IpAddr::from((six.to_bits() & mask).to_be_bytes())
        }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if self.address.is_ipv4() { 32 } else { 128 };
        match self.bits == width {
            true => write!(f, "{}", self.address),
            false => write!(f, "{}/{}", self.address, self.bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_one_writing() {
        for (given, written) in [
            ("10.0.0.1", "10.0.0.1"),
            ("10.0.0.1/32", "10.0.0.1"),
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("fd00::1", "fd00::1"),
            ("FD00:0::/8", "fd00::/8"),
            ("::1/128", "::1"),
        ] {
            assert_eq!(given.parse::<Net>().unwrap().to_string(), written);
        }
        for bad in ["", "any", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "::/129", "-s"]
        {
            assert!(bad.parse::<Net>().is_err(), "{bad}");
        }
    }
}
