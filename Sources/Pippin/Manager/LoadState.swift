/// How far a manager's store has come.
enum LoadState {
    case unloaded
    /// By whoever came first.
    case opened
    /// By `load()`.
    case loaded
}
