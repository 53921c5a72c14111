/// The threads that tasks share.
enum ThreadSharing {
    /// Whether the current thread may be kept for some short work. An executor that the task prefers may be a loop
    /// of events, which must not be kept. Functions of no actor do not run on the main one.
    static var allowsWork: Bool {
        withUnsafeCurrentTask { $0 != nil && $0?.unownedTaskExecutor == nil }
    }
}
