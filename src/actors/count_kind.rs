/// What a counter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountKind {
    /// Tasks, with the kernel of the run.
    Task,
    /// Tasks, with a kernel that has not counted them.
    ByOtherKernel,
    /// The canary.
    Canary,
}
