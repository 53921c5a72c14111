import Foundation
import Synchronization

/// The signals by which a user or the system ends the program: temporary files are removed before it ends.
package enum EndingSignals {
    /// A signal ends the program: long work is to be abandoned.
    package struct Ended: Error {}

    private static let paths = Mutex<Set<String>>([])
    private static let works = Mutex<[@Sendable () -> Void]>([])
    private static let takers = Mutex<[@Sendable () -> Bool]>([])
    private static let hasCome = Atomic<Bool>(false)
    /// How long the program goes on after a signal, in seconds.
    private static let patience = 1.5

    /// Blocks the default handling of the signals. To be called before there are other threads.
    package static func block() {
        var signals = waitedFor()
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Thread.detachNewThread {
            var signals = waitedFor()
            var number: Int32 = 0
            repeat {
                guard sigwait(&signals, &number) == 0 else { return }
            } while number == SIGINT && isTaken()
            hasCome.store(true, ordering: .relaxed)
            performAll()
            removeAll()
            signal(number, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            raise(number)
        }
    }

    /// Registers a file or folder to be removed when a signal ends the program.
    package static func remove(_ url: URL) { paths.withLock { _ = $0.insert(url.path) } }

    /// Unregisters a file or folder that is gone, or is to stay.
    package static func keep(_ url: URL) { paths.withLock { _ = $0.remove(url.path) } }

    /// Registers work for when a signal ends the program. It may take only a moment.
    package static func perform(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

    /// Has Ctrl-C stop what the program is doing instead of the program.
    ///
    /// - Parameter taker: stops it, in a moment; returns false if there is nothing to stop, so that the program ends.
    package static func takeInterrupts(_ taker: @escaping @Sendable () -> Bool) { takers.withLock { $0.append(taker) } }

    private static func isTaken() -> Bool { takers.withLock { $0 }.contains { $0() } }

    /// To be called now and then by long work.
    ///
    /// - Throws: `Ended` if a signal has come.
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
            for path in paths {
                // The program goes on meanwhile, and may put something into a folder that is being removed.
                for _ in 0..<10 {
                    try? FileManager.default.removeItem(atPath: path)
                    guard FileManager.default.fileExists(atPath: path) else { break }
                }
            }
        }
    }

    /// The signals that are not ignored already, as by `nohup`.
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
