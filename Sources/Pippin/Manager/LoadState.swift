/// The state of a manager's store.
enum LoadState {
    case unloaded
    /// Opened by the first use.
    case opened
    /// Opened by `load()`.
    case loaded
}
