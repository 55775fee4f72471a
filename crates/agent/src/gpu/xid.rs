//! What the numbers mean by which NVIDIA's driver tells of errors ("Xid").
//!
//! NVIDIA's catalogue says of each what to do at once. Where that is to start the program again, the
//! program was the cause or the error was contained in it, and the device serves the next one. Where it
//! is to reset the device or the machine, or to have somebody look at the hardware, nothing should be
//! given to it before that was done. A number that is not known is told and does no harm.

/// The device cannot be relied on after it.
pub fn is_fatal(xid: u64) -> bool {
    fatal(xid).is_some()
}

/// What it means, in a few words.
pub fn meaning(xid: u64) -> &'static str {
    fatal(xid).or_else(|| passing(xid)).unwrap_or("an error of a kind that is not known here")
}

/// Number and meaning.
pub fn words(xid: u64) -> String {
    format!("Xid {xid}: {}", meaning(xid))
}

const fn fatal(xid: u64) -> Option<&'static str> {
    Some(match xid {
        46 => "GPU stopped processing",
        48 => "uncorrectable memory error",
        54 => "GPU lacks auxiliary power",
        61 | 62 => "microcontroller of the GPU has halted",
        64 => "bad memory could not be taken out of use",
        74 => "error of an NVLink",
        79 => "GPU has fallen off the bus",
        95 => "memory error that reached several programs",
        109 => "GPU could not switch between programs",
        110 => "security fault of the GPU",
        119 => "GPU system processor does not answer",
        120 => "error of the GPU system processor",
        121 => "error of the link between processor and GPU",
        136 => "training of a link has failed",
        140 => "memory error that could not be recovered from",
        143 => "GPU could not be initialised",
        144..=150 => "error of an NVLink",
        155 => "an NVLink has failed",
        158 => "GPU does not answer in time",
        _ => return None,
    })
}

const fn passing(xid: u64) -> Option<&'static str> {
    Some(match xid {
        8 => "a program ran for too long",
        11 | 32 => "a program sent commands that make no sense",
        13 => "a program used the GPU in a way that it does not allow",
        31 => "a program touched memory that is not its own",
        43 => "a program was stopped for an error of its own",
        45 => "a program was ended while it used the GPU",
        63 => "bad memory was taken out of use; a reset puts that into force",
        68 => "error of the video decoder",
        69 => "a program used the GPU in a way that it does not allow",
        92 => "many memory errors were corrected",
        94 => "memory error that ended the program which met it; a reset puts a remedy into force",
        154 => "what helps the GPU to recover has changed",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_do_not_put_a_device_out_of_service() {
        for xid in [8, 13, 31, 43, 45, 63, 68, 69, 94, 154, 0, 9999] {
            assert!(!is_fatal(xid), "{xid}");
        }
        for xid in [48, 62, 64, 74, 79, 95, 119, 120, 140, 145] {
            assert!(is_fatal(xid), "{xid}");
        }
        assert_eq!(words(79), "Xid 79: GPU has fallen off the bus");
        assert!(words(5).contains("not known"));
    }

    #[test]
    fn no_number_is_both() {
        assert!((0..1000).all(|xid| fatal(xid).is_none() || passing(xid).is_none()));
    }
}
