//! The limits that the child sets on itself before it reads a byte, and anew for each file.
//!
//! They hold on Linux. macOS does not enforce a limit on the address space and Windows has no such
//! limits: there the parent's wall limit alone ends a child.

/// Address space beyond the size of the file, in bytes. Measured on some 2,700 files: none needs more.
#[cfg(target_os = "linux")]
const MEMORY_BYTES: u64 = 1 << 30;

/// Processor seconds of one file.
#[cfg(target_os = "linux")]
const PROCESSOR_SECONDS: u64 = 20;

/// Largest file that could be written, in bytes.
pub(super) const WRITTEN_FILE_BYTES: u64 = 512 << 20;

/// Sets the limits that stay. One that can't be set is left as it is: the parent still watches the clock.
#[cfg(target_os = "linux")]
pub(super) fn set() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let limits = [
        (
            Resource::As,
            MEMORY_BYTES,
            MEMORY_BYTES + super::source::MAX_FILE_BYTES,
        ),
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
    begin_file();
}

/// Gives the next file its processor time, and takes back the room that the last one had.
#[cfg(target_os = "linux")]
pub(super) fn begin_file() {
    use rustix::process::Resource;
    use rustix::time::{ClockId, clock_gettime};

    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    // The second that has begun is not of this file. At the limit a signal ends the process.
    let used = u64::try_from(used).unwrap_or(0) + 1;
    set_current(Resource::Cpu, used + PROCESSOR_SECONDS);
    set_current(Resource::As, MEMORY_BYTES);
}

/// Makes room for the bytes of the file itself, which are held in memory.
#[cfg(target_os = "linux")]
pub(super) fn allow_file(bytes: u64) {
    set_current(rustix::process::Resource::As, MEMORY_BYTES + bytes);
}

/// Makes room for copying pages of a file: its bytes, its objects, and once more where they are decrypted.
#[cfg(target_os = "linux")]
pub(super) fn allow_copy(bytes: u64) {
    set_current(
        rustix::process::Resource::As,
        MEMORY_BYTES + bytes.saturating_mul(3),
    );
}

#[cfg(target_os = "linux")]
fn set_current(resource: rustix::process::Resource, current: u64) {
    use rustix::process::{Rlimit, getrlimit, setrlimit};

    let maximum = getrlimit(resource).maximum;
    let _ = setrlimit(
        resource,
        Rlimit {
            current: Some(maximum.map_or(current, |maximum| current.min(maximum))),
            maximum,
        },
    );
}

#[cfg(not(target_os = "linux"))]
pub(super) fn set() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn begin_file() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn allow_file(_bytes: u64) {}

#[cfg(not(target_os = "linux"))]
pub(super) fn allow_copy(_bytes: u64) {}
