import Foundation

/// Runs work on another thread, as another program would, and waits for it.
func elsewhere(_ work: @escaping () throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var failure: (any Error)?  // written before the semaphore is signalled
    nonisolated(unsafe) let work = work  // called while the caller waits
    Thread.detachNewThread {
        do { try work() } catch { failure = error }
        done.signal()
    }
    done.wait()
    if let failure { throw failure }
}
