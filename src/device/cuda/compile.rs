//! Compiles kernels with NVRTC in a child process, so that a compiler that hangs or crashes does not
//! end the run.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use cudarc::nvrtc::{result, sys};

use super::child::{Process, READING};
use super::{CudaSettings, cache, guarded};
use crate::device::kernel_source;
use crate::engine::DeviceProgram;

/// The argument that makes this program a compiler; see [`compile_for_parent`].
const CHILD: &str = "compile-kernel";

/// How long a compilation may take.
pub(super) const COMPILE_TIME: Duration = Duration::from_secs(20);

/// The run-time compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    limit: Duration,
    folder: Option<PathBuf>,
    /// `NVRTC 13.0`.
    version: String,
}

impl Compiler {
    /// The compiler that `settings` describe.
    ///
    /// # Errors
    /// There is none, and why.
    pub fn find(settings: &CudaSettings) -> Result<Self, String> {
        Ok(Self {
            program: settings
                .helper
                .clone()
                .ok_or_else(|| "this program does not know where it is".to_owned())?,
            limit: COMPILE_TIME,
            folder: settings.cache.clone(),
            version: nvrtc_version()?,
        })
    }

    /// Its name and version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles `program` for `architecture` (`sm_90`), or returns what was compiled before.
    ///
    /// # Errors
    /// The compiler failed, took too long or could not be started, or this version of the `driver` does not load
    /// what was compiled before.
    pub fn compile(
        &self,
        program: DeviceProgram,
        architecture: &str,
        driver: &str,
    ) -> Result<Vec<u8>, String> {
        let options = program.options(architecture);
        let kept = self.file(program, &options);
        if let Some(path) = &kept {
            if cache::is_refused(path, driver) {
                let version = &self.version;
                return Err(format!("{driver} does not load what {version} compiles"));
            }
            if let Some(kernel) = cache::kept(path) {
                return Ok(kernel);
            }
        }
        let kernel = self.in_child(program, &options)?;
        if let Some(path) = kept {
            cache::keep(&path, &kernel);
        }
        Ok(kernel)
    }

    /// Forgets what was compiled, because this version of the `driver` does not load it, and remembers that.
    pub fn refuse(&self, program: DeviceProgram, architecture: &str, driver: &str) {
        if let Some(path) = self.file(program, &program.options(architecture)) {
            cache::refuse(&path, driver);
        }
    }

    /// Where the kernel is kept, if one is.
    fn file(&self, program: DeviceProgram, options: &[String]) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let source = kernel_source(program);
        Some(cache::path(folder, &source, options, &self.version))
    }

    fn in_child(&self, program: DeviceProgram, options: &[String]) -> Result<Vec<u8>, String> {
        let child = Command::new(&self.program)
            .arg(CHILD)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let mut process = Process(child);
        let child = &mut process.0;
        let (source, stdin) = (kernel_source(program), child.stdin.take());
        thread::spawn(move || {
            if let Some(mut stdin) = stdin {
                // A child that ends early reports the reason itself.
                let _ = stdin.write_all(source.as_bytes());
            }
        });
        let kernel = read_all(child.stdout.take());
        let message = read_all(child.stderr.take());
        let Some(status) = process.wait(self.limit) else {
            return Err(format!(
                "{}: still not done after {:.0?}",
                self.version, self.limit
            ));
        };
        let [kernel, message] =
            [kernel, message].map(|all| all.recv_timeout(READING).unwrap_or_default());
        if status.success() && !kernel.is_empty() {
            return Ok(kernel);
        }
        let message = String::from_utf8_lossy(&message);
        Err(format!("{} failed: {}", self.version, message.trim()))
    }
}

/// Reads on a thread of its own, and then sends it all.
fn read_all(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, all_read) = channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut from) = from {
            // What was read before an error is kept.
            let _ = from.read_to_end(&mut all);
        }
        let _ = sender.send(all);
    });
    all_read
}

/// The version of the NVRTC on this machine.
fn nvrtc_version() -> Result<String, String> {
    // SAFETY: loading the library runs no code of ours, and its initialisers are what CUDA
    // programs run.
    if !unsafe { sys::is_culib_present() } {
        return Err("no NVRTC: libnvrtc not found".to_owned());
    }
    guarded(|| {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers.
        let done = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result();
        done.map(|()| format!("NVRTC {major}.{minor}"))
            .map_err(|error| format!("NVRTC: {error}"))
    })?
}

/// What the child process does: compiles the source on stdin with `options`, and writes the kernel
/// to stdout.
///
/// # Errors
/// The compiler's message.
pub fn compile_for_parent(options: &[String]) -> Result<(), String> {
    let mut source = String::new();
    let failed = |error: io::Error| error.to_string();
    io::stdin().read_to_string(&mut source).map_err(failed)?;
    nvrtc_version()?;
    let kernel = guarded(|| nvrtc(&source, options))??;
    let mut out = io::stdout().lock();
    out.write_all(&kernel)
        .and_then(|()| out.flush())
        .map_err(failed)
}

fn nvrtc(source: &str, options: &[String]) -> Result<Vec<u8>, String> {
    let source = std::ffi::CString::new(source).map_err(|error| error.to_string())?;
    let program = result::create_program(&source, None).map_err(|error| error.to_string())?;
    // SAFETY: the program has just been made and is not destroyed before the process ends.
    let compiled = unsafe { result::compile_program(program, options) };
    if let Err(error) = compiled {
        // SAFETY: as above.
        let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|byte| byte.to_ne_bytes()[0]).collect();
        let log = String::from_utf8_lossy(&log);
        return Err(format!("{error}: {}", log.trim_matches(['\0', '\n', ' '])));
    }
    let mut size = 0;
    // SAFETY: the program lives, the pointer is to a live integer.
    unsafe { sys::nvrtcGetCUBINSize(program, &raw mut size) }
        .result()
        .map_err(|error| error.to_string())?;
    let mut kernel = vec![0_u8; size];
    // SAFETY: the program lives, and the buffer is as long as asked for.
    unsafe { sys::nvrtcGetCUBIN(program, kernel.as_mut_ptr().cast()) }
        .result()
        .map_err(|error| error.to_string())?;
    Ok(kernel)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use super::*;
    use crate::engine::{Layout, ThreadUse};

    /// A compiler that is this shell script.
    fn compiler(folder: &tempfile::TempDir, script: &str, limit: Duration) -> Compiler {
        let program = folder.path().join("compiler");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Compiler {
            program,
            limit,
            folder: Some(folder.path().join("cache")),
            version: "NVRTC 0.0".to_owned(),
        }
    }

    fn program() -> DeviceProgram {
        let layout = Layout {
            job_words: |_| 1,
            group_word: None,
            group_words: 1,
            group_sums: 1,
            check: |_| Ok(()),
        };
        // SAFETY: there is no such kernel, so nothing runs it.
        unsafe { DeviceProgram::new("made_up", ThreadUse::OnePerJob, layout) }
    }

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn a_kernel_is_compiled_once() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "echo x >> {}/runs; cat > /dev/null; echo kernel $*",
            folder.path().display()
        );
        let compiler = compiler(&folder, &script, LONG);
        let driver = "CUDA 12.2";
        let compile = |architecture| compiler.compile(program(), architecture, driver);
        let kernel = compile("sm_90").unwrap();
        assert!(String::from_utf8_lossy(&kernel).starts_with("kernel compile-kernel"));
        assert_eq!(compile("sm_90").unwrap(), kernel);
        let runs = || {
            std::fs::read_to_string(folder.path().join("runs"))
                .unwrap()
                .lines()
                .count()
        };
        assert_eq!(runs(), 1);
        assert_ne!(compile("sm_80").unwrap(), kernel);
        compiler.refuse(program(), "sm_90", driver);
        let refused = compile("sm_90").unwrap_err();
        assert_eq!(refused, "CUDA 12.2 does not load what NVRTC 0.0 compiles");
        assert_eq!(runs(), 2);
        // A newer driver may.
        let newer = compiler.compile(program(), "sm_90", "CUDA 13.0");
        assert_eq!(newer.unwrap(), kernel);
        assert_eq!(runs(), 3);
    }

    #[test]
    fn a_compiler_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = compiler(&folder, "exec sleep 60", Duration::from_millis(100));
        let begin = Instant::now();
        let error = compiler.compile(program(), "sm_90", "").unwrap_err();
        assert!(error.contains("still not done"), "{error}");
        assert!(begin.elapsed() < LONG);
    }

    #[test]
    fn a_compiler_that_fails_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = compiler(&folder, "cat > /dev/null; echo so sorry >&2; exit 1", LONG);
        let error = compiler.compile(program(), "sm_90", "").unwrap_err();
        assert!(error.contains("so sorry"), "{error}");
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut compiler = compiler(&folder, "", LONG);
        compiler.program = folder.path().join("nowhere");
        let error = compiler.compile(program(), "sm_90", "").unwrap_err();
        assert!(error.contains("nowhere"), "{error}");
    }
}
