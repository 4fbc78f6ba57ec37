/// What a worker or device counts: injected faults tell these apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountKind {
    /// A task, with the kernel of the run.
    Task,
    /// A task, with a kernel that has not counted it.
    ByOtherKernel,
    /// A task of a canary.
    Canary,
}
