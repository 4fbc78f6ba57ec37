//! The kernels that devices run, described so that a device needs no knowledge of engines.

#![expect(
    unsafe_code,
    reason = "whoever describes a kernel vouches for its layout"
)]

use std::fmt;
use std::hash::{Hash, Hasher};

use super::layout::Layout;

/// Threads of a warp.
const WARP: u32 = 32;

/// Bytes of shared memory that CUDA takes for itself in each block (CUDA Programming Guide, compute
/// capabilities 8.x to 12.x).
pub(crate) const RESERVED: u32 = 1024;

/// Threads of a block that share no memory: as the original of the bit-board of the ladder has them.
const MOST_ALONE: u32 = 96;

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
    entry: &'static str,
    /// Which variant it is, where there are several: the value of the macro that the source expects.
    variant: Option<u32>,
    /// Bytes of shared memory for each thread.
    memory_of_thread: u32,
    /// Bytes of shared memory for a block besides, which all of its threads use.
    memory_of_block: u32,
    /// The most threads of a block.
    most_threads: u32,
    /// How threads take jobs.
    threads: ThreadUse,
    /// How it reads a launch.
    pub(super) layout: Layout,
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
    /// A program without variants, whose threads share no memory: its entry point, how its threads take jobs and how it
    /// reads a launch. Its source is the file of that name, with `.cu` behind it.
    ///
    /// # Safety
    /// The layout must refuse every launch whose words would lead the kernel out of its memory, and must
    /// describe what the kernel reads and writes.
    pub const unsafe fn new(entry: &'static str, threads: ThreadUse, layout: Layout) -> Self {
        Self {
            entry,
            variant: None,
            memory_of_thread: 0,
            memory_of_block: 0,
            most_threads: MOST_ALONE,
            threads,
            layout,
        }
    }

    /// The variant of it for which the macro of its source has this value.
    ///
    /// # Safety
    /// That of [`new`](Self::new), for this variant.
    pub(crate) const unsafe fn with_variant(self, value: u32) -> Self {
        Self {
            variant: Some(value),
            ..self
        }
    }

    /// The same with blocks of at most so many threads, which share so many bytes of memory for each thread, and for the
    /// block besides.
    ///
    /// # Safety
    /// It is as much as the kernel uses.
    pub(crate) const unsafe fn with_blocks(
        self,
        most_threads: u32,
        memory_of_thread: u32,
        memory_of_block: u32,
    ) -> Self {
        Self {
            memory_of_thread,
            memory_of_block,
            most_threads,
            ..self
        }
    }

    /// The name of its entry point.
    pub const fn entry(&self) -> &'static str {
        self.entry
    }

    /// Which variant it is; 0 if there is one alone.
    pub fn variant(&self) -> u32 {
        self.variant.unwrap_or(0)
    }

    /// Bytes of shared memory of a block of this many threads.
    pub const fn block_memory(&self, threads: u32) -> u32 {
        self.memory_of_block + self.memory_of_thread * threads
    }

    /// The numbers of threads that a block may have on a device whose multiprocessors have so many bytes of shared
    /// memory. Of threads that do not work together it is one: as many as program and memory allow.
    pub fn block_sizes(&self, memory: u32) -> impl Iterator<Item = u32> {
        let mut most = self.most_threads;
        while most > WARP && self.block_memory(most) > memory.saturating_sub(RESERVED) {
            most -= WARP;
        }
        let together = self.threads == ThreadUse::BlocksTakeJobs;
        let fewest = if together { WARP } else { most };
        (fewest..=most).step_by(WARP as usize)
    }

    /// How many of its largest blocks a multiprocessor with so many bytes of shared memory runs at a time; `None` if the
    /// threads of a block do not work together: then blocks are as large as registers allow.
    pub fn blocks_in(&self, memory: u32) -> Option<u32> {
        let block = self.block_memory(self.most_threads) + RESERVED;
        (self.threads == ThreadUse::BlocksTakeJobs).then(|| (memory / block).max(1))
    }

    /// How many threads a launch of this many jobs needs; `None` if it runs best with as many as the
    /// device can run at a time.
    pub const fn threads_for(&self, jobs: u32) -> Option<u32> {
        match self.threads {
            ThreadUse::OnePerJob => Some(jobs),
            ThreadUse::FillTheDevice | ThreadUse::BlocksTakeJobs => None,
        }
    }
}

impl fmt::Display for DeviceProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry)?;
        match self.variant {
            Some(value) => write!(f, "-{value}"),
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
        (self.entry, self.variant) == (other.entry, other.variant)
    }
}

impl Eq for DeviceProgram {}

impl Hash for DeviceProgram {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.entry, self.variant).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> DeviceProgram {
        let layout = Layout {
            job_words: |_| 1,
            group_word: None,
            group_words: 1,
            group_sums: 1,
            check: |_| Ok(()),
        };
        // SAFETY: nothing launches it.
        unsafe { DeviceProgram::new("made_up", ThreadUse::OnePerJob, layout) }
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
        let sizes = |memory| program.block_sizes(memory).collect::<Vec<_>>();
        assert_eq!(sizes(1 << 20), [32, 64, 96, 128, 160]);
        assert_eq!(sizes(5000 + 6400 + RESERVED), [32, 64]);
        assert_eq!(sizes(0), [32]);
        let alone = DeviceProgram {
            threads: ThreadUse::OnePerJob,
            ..program
        };
        assert!(alone.block_sizes(1 << 20).eq([160]));
    }
}
