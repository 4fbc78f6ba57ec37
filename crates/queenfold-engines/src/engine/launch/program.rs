//! The kernels that devices run, described so that a device needs no knowledge of engines.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use super::layout::Layout;

/// Threads in a block of a GPU: every program runs with any multiple of 32 in this range, up to a limit of
/// its own ([`DeviceProgram::block_sizes`]).
pub const BLOCK_THREADS: RangeInclusive<u32> = 32..=256;

/// Threads of a warp.
const WARP: u32 = 32;

/// Bytes of shared memory that CUDA takes for itself in each block (CUDA Programming Guide, compute
/// capabilities 8.x to 12.x).
pub(crate) const RESERVED: u32 = 1024;

/// The most threads that CUDA allows in a block.
const MOST_OF_CUDA: u32 = 1024;

/// A kernel that devices can run, specialised for its purpose.
///
/// An engine, or a method of the ladder, owns its programs. A device knows only what is described
/// here. It finds what was compiled beforehand (machine code for host threads, the portable form for
/// GPUs) by name, so each program needs a [`Display`](fmt::Display) name of its own.
///
/// A kernel trusts the words of its launch, so a program is sound only with a layout that refuses every
/// word that would lead the kernel out of its memory. No constructor could check that: [`new`](Self::new)
/// is unsafe. A launcher outside of this library can use the programs of the launchers inside, and the CPU
/// workers count an engine that has no launcher.
#[derive(Clone, Copy)]
pub struct DeviceProgram {
    /// The name of the entry point.
    pub(crate) entry: &'static str,
    /// The files of its source, in the order in which they include each other.
    pub(crate) files: &'static [&'static str],
    /// What the kernel is compiled for, where there are variants of it.
    pub(crate) specialisation: Option<Specialisation>,
    /// Bytes of shared memory for each thread.
    pub(crate) memory_of_thread: u32,
    /// Bytes of shared memory for a block besides, which all of its threads use.
    pub(crate) memory_of_block: u32,
    /// The most threads of a block.
    pub(crate) most_threads: u32,
    /// How threads take jobs.
    pub(crate) threads: ThreadUse,
    /// How it reads a launch.
    pub(crate) layout: Layout,
}

/// A number that a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Specialisation {
    /// The macro that the source expects.
    pub macro_name: &'static str,
    /// Its value.
    pub value: u32,
}

/// How the threads of a kernel take jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadUse {
    /// A launch fills the device once; each thread takes jobs as long as there are any.
    FillTheDevice,
    /// A launch has at least as many threads as jobs; each thread takes one job at most.
    OnePerJob,
    /// A launch fills the device once; each block takes jobs as long as there are any, and its warps work together.
    BlocksTakeJobs,
}

impl DeviceProgram {
    /// A program without variants, whose threads share no memory: its entry point, the
    /// [files](Self::files) of its source, how its threads take jobs and how it reads a launch.
    ///
    /// # Safety
    /// The layout must refuse every launch whose words would lead the kernel out of its memory, and must
    /// describe what the kernel reads and writes.
    #[expect(
        unsafe_code,
        reason = "whoever describes a kernel vouches for its layout"
    )]
    pub const unsafe fn new(
        entry: &'static str,
        files: &'static [&'static str],
        threads: ThreadUse,
        layout: Layout,
    ) -> Self {
        Self {
            entry,
            files,
            specialisation: None,
            memory_of_thread: 0,
            memory_of_block: 0,
            most_threads: MOST_OF_CUDA,
            threads,
            layout,
        }
    }

    /// The name of its entry point.
    pub const fn entry(&self) -> &'static str {
        self.entry
    }

    /// What it is compiled for; `None` if there is one variant alone.
    pub const fn specialisation(&self) -> Option<Specialisation> {
        self.specialisation
    }

    /// What it is compiled for as a number; 0 if there is one variant alone.
    pub fn variant(&self) -> u32 {
        self.specialisation.map_or(0, |special| special.value)
    }

    /// Bytes of shared memory of a block of this many threads.
    pub const fn block_memory(&self, threads: u32) -> u32 {
        self.memory_of_block + self.memory_of_thread * threads
    }

    /// The numbers of threads that a block may have where so many are wanted, on a device whose multiprocessors have so
    /// many bytes of shared memory. Of threads that do not work together it is one: as many as program and memory allow.
    pub fn block_sizes(&self, wanted: u32, memory: u32) -> impl Iterator<Item = u32> {
        let together = self.threads == ThreadUse::BlocksTakeJobs;
        let mut most = wanted.min(self.most_threads);
        if together {
            most = (most / WARP * WARP).max(WARP);
        }
        while most > WARP && self.block_memory(most) > memory.saturating_sub(RESERVED) {
            most -= WARP;
        }
        let fewest = if together { WARP } else { most };
        (fewest..=most).step_by(WARP as usize)
    }

    /// How many threads a launch of this many jobs needs; `None` if it runs best with as many as the
    /// device can run at a time.
    pub const fn threads_for(&self, jobs: u32) -> Option<u32> {
        match self.threads {
            ThreadUse::OnePerJob => Some(jobs),
            ThreadUse::FillTheDevice | ThreadUse::BlocksTakeJobs => None,
        }
    }

    /// The files of its source, in the order in which they include each other, by their names in the
    /// folder of the kernels. Before them comes what all kernels need of the machine.
    pub const fn files(&self) -> &'static [&'static str] {
        self.files
    }

    /// The compiler options that specialise it for devices of this architecture: `sm_90`, or
    /// `compute_90` for the portable intermediate form.
    pub fn options(&self, architecture: &str) -> Vec<String> {
        let define = self
            .specialisation
            .map(|Specialisation { macro_name, value }| format!("-D{macro_name}={value}u"));
        [
            format!("--gpu-architecture={architecture}"),
            "--std=c++17".to_owned(),
        ]
        .into_iter()
        .chain(define)
        .collect()
    }
}

impl fmt::Display for DeviceProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry)?;
        match self.specialisation {
            Some(Specialisation { value, .. }) => write!(f, "-{value}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for DeviceProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceProgram({self})")
    }
}

impl PartialEq for DeviceProgram {
    fn eq(&self, other: &Self) -> bool {
        (self.entry, self.specialisation) == (other.entry, other.specialisation)
    }
}

impl Eq for DeviceProgram {}

impl Hash for DeviceProgram {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.entry, self.specialisation).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::JobWords;

    #[expect(unsafe_code, reason = "nothing launches it")]
    fn program() -> DeviceProgram {
        let layout = Layout {
            job_words: JobWords::Fixed(1),
            group_word: None,
            group_words: 1,
            group_sums: 1,
            check: |_| Ok(()),
        };
        // SAFETY: nothing launches it.
        unsafe { DeviceProgram::new("made_up", &[], ThreadUse::OnePerJob, layout) }
    }

    #[test]
    fn threads_that_share_nothing_have_a_block_of_any_size() {
        for wanted in [1, 96, 256, 1000, 1024] {
            let sizes: Vec<_> = program().block_sizes(wanted, 0).collect();
            assert_eq!(sizes, [wanted]);
        }
    }

    #[test]
    fn warps_that_work_together_may_be_as_many_as_memory_allows() {
        let program = DeviceProgram {
            memory_of_thread: 100,
            memory_of_block: 5000,
            most_threads: 160,
            threads: ThreadUse::BlocksTakeJobs,
            ..program()
        };
        let sizes = |wanted, memory| program.block_sizes(wanted, memory).collect::<Vec<_>>();
        assert_eq!(sizes(256, 1 << 20), [32, 64, 96, 128, 160]);
        assert_eq!(sizes(100, 1 << 20), [32, 64, 96]);
        assert_eq!(sizes(1, 1 << 20), [32]);
        assert_eq!(sizes(256, 5000 + 6400 + RESERVED), [32, 64]);
        assert_eq!(sizes(256, 0), [32]);
    }
}
