import Foundation
import Synchronization

/// The signals by which a user or the system ends the program: what it has made goes before the program does.
package enum EndingSignals {
    private static let paths = Mutex<Set<String>>([])

    /// Takes the signals off their usual way. To be called before there are other threads.
    package static func block() {
        var signals = waitedFor()
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Thread.detachNewThread {
            var signals = waitedFor()
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { return }
            removeAll()
            signal(number, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            raise(number)
        }
    }

    /// Has a file or folder removed when a signal ends the program.
    package static func remove(_ url: URL) { paths.withLock { _ = $0.insert(url.path) } }

    /// Leaves a file or folder alone that is gone, or is to stay.
    package static func keep(_ url: URL) { paths.withLock { _ = $0.remove(url.path) } }

    private static func removeAll() {
        paths.withLock { paths in
            for path in paths { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    /// Those that are not ignored already, as `nohup` has it.
    private static func waitedFor() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var action = sigaction()
            guard sigaction(number, nil, &action) == 0 else { continue }
            let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
            if !isIgnored { sigaddset(&signals, number) }
        }
        return signals
    }
}
