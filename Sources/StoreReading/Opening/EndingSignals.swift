import Foundation
import Synchronization

/// The signals by which a user or the system ends the program: what it has made goes before the program does.
package enum EndingSignals {
    /// A signal ends the program: what takes long is to be left.
    package struct Ended: Error {}

    private static let paths = Mutex<Set<String>>([])
    private static let works = Mutex<[@Sendable () -> Void]>([])
    private static let hasCome = Atomic<Bool>(false)
    /// How long the program goes on after a signal, in seconds.
    private static let patience = 1.5

    /// Takes the signals off their usual way. To be called before there are other threads.
    package static func block() {
        var signals = waitedFor()
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Thread.detachNewThread {
            var signals = waitedFor()
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { return }
            hasCome.store(true, ordering: .relaxed)
            performAll()
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

    /// Has something done when a signal ends the program. It may wait a moment, not longer.
    package static func perform(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

    /// For what takes long, now and then.
    ///
    /// - Throws: `Ended` when a signal has come.
    package static func check() throws {
        if hasCome.load(ordering: .relaxed) { throw Ended() }
    }

    private static func performAll() {
        let works = works.withLock { $0 }
        guard !works.isEmpty else { return }
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            for work in works { work() }
            done.signal()
        }
        _ = done.wait(timeout: .now() + patience)
    }

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
