//! The limits that the child sets on itself before it reads a byte.
//!
//! They hold on Linux. macOS does not enforce a limit on the address space and Windows has no such
//! limits: there the parent's wall limit alone ends a child.

/// Address space beyond the size of the file, in bytes. Measured on some 2,700 files: none needs more.
#[cfg(target_os = "linux")]
const MEMORY_BYTES: u64 = 1 << 30;

/// Processor seconds.
#[cfg(target_os = "linux")]
const PROCESSOR_SECONDS: u64 = 20;

/// Largest file that could be written, in bytes.
pub(super) const WRITTEN_FILE_BYTES: u64 = 512 << 20;

/// Sets all limits. One that can't be set is left as it is: the parent still watches the clock.
#[cfg(target_os = "linux")]
pub(super) fn set() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let limits = [
        (
            Resource::As,
            MEMORY_BYTES,
            MEMORY_BYTES + super::source::MAX_FILE_BYTES,
        ),
        // One second more to the hard limit, so that the signal tells this end from others.
        (Resource::Cpu, PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1),
        (Resource::Core, 0, 0),
        (Resource::Fsize, WRITTEN_FILE_BYTES, WRITTEN_FILE_BYTES),
    ];
    for (resource, current, maximum) in limits {
        let _ = setrlimit(
            resource,
            Rlimit {
                current: Some(current),
                maximum: Some(maximum),
            },
        );
    }
}

/// Makes room for the bytes of the file itself, which are held in memory.
#[cfg(target_os = "linux")]
pub(super) fn allow_file(bytes: u64) {
    allow(MEMORY_BYTES + bytes);
}

/// Makes room for copying pages of a file: its bytes, its objects, and once more where they are decrypted.
#[cfg(target_os = "linux")]
pub(super) fn allow_copy(bytes: u64) {
    allow(MEMORY_BYTES + bytes.saturating_mul(3));
}

#[cfg(target_os = "linux")]
fn allow(bytes: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let maximum = getrlimit(Resource::As).maximum;
    let _ = setrlimit(
        Resource::As,
        Rlimit {
            current: Some(maximum.map_or(bytes, |maximum| bytes.min(maximum))),
            maximum,
        },
    );
}

#[cfg(not(target_os = "linux"))]
pub(super) fn set() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn allow_file(_bytes: u64) {}

#[cfg(not(target_os = "linux"))]
pub(super) fn allow_copy(_bytes: u64) {}
