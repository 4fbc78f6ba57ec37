//! Spreads parts of a search over the cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{StopSearch, Watch};

/// Does `work` for every task, on all cores: each thread takes the next task when it has finished
/// its last. The results come in no particular order.
pub(super) fn spread<T: Sync, R: Send>(
    tasks: &[T],
    watch: &mut Watch<'_>,
    work: impl Fn(&T, &mut Watch<'_>) -> Result<R, StopSearch> + Sync,
) -> Result<Vec<R>, StopSearch> {
    let next = AtomicUsize::new(0);
    let thread = |mut watch: Watch<'_>| {
        let mut results = Vec::new();
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            match work(task, &mut watch) {
                Ok(result) => results.push(result),
                Err(StopSearch) => return (Err(StopSearch), watch.nodes()),
            }
        }
        (Ok(results), watch.nodes())
    };
    let threads = num_cpus::get().min(tasks.len());
    let ends: Vec<_> = thread::scope(|scope| {
        // This thread is one of them. Where the system allows no more, fewer search.
        let others = (1..threads).filter_map(|_| {
            let watch = watch.fork();
            let search = || thread(watch);
            thread::Builder::new().spawn_scoped(scope, search).ok()
        });
        let others: Vec<_> = others.collect();
        let own = thread(watch.fork());
        let others = others.into_iter().map(|thread| thread.join());
        let others = others.map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(others).collect()
    });
    let mut all = Vec::with_capacity(tasks.len());
    for (results, nodes) in ends {
        watch.add_nodes(nodes);
        all.extend(results?);
    }
    Ok(all)
}
