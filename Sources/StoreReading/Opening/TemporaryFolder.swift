import Foundation
import SQLiteEngine
import StoreEngine
import Synchronization

/// A private folder among the temporary files.
///
/// It is removed with this object, or when a signal ends the program; after `kill -9` by the next run of the program. A
/// lock shows which folders are still in use, as it ends with its process.
package final class TemporaryFolder {
    package let url: URL
    private let descriptor: Int32

    /// - Parameters:
    ///   - parent: the folder to make it in.
    ///   - prefix: begins its name, and those of leftovers.
    /// - Throws: `CommandError` if no folder can be made, or it cannot be locked.
    package init(
        in parent: URL = FileManager.default.temporaryDirectory, prefix: String = "pippin-copy-"
    ) throws {
        Self.removeLeftovers(in: parent, prefix)
        while true {
            let url = parent.appendingPathComponent(prefix + UUID().uuidString, isDirectory: true)
            // Registered first, so that a signal never meets a folder that is not.
            EndingSignals.remove(url)
            guard mkdir(url.path, 0o700) == 0 else {
                let failure = Self.failure(url)
                EndingSignals.keep(url)
                throw failure
            }
            do {
                // Another run may have found the folder before it was locked, and taken it for a leftover.
                if let descriptor = try Self.lock(url) {
                    (self.url, self.descriptor) = (url, descriptor)
                    return
                }
                EndingSignals.keep(url)
            } catch {
                rmdir(url.path)
                EndingSignals.keep(url)
                throw error
            }
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        EndingSignals.keep(url)
        close(descriptor)
    }

    /// Removes the folders of runs that were killed.
    private static func removeLeftovers(in parent: URL, _ prefix: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            let url = parent.appendingPathComponent(name, isDirectory: true)
            var facts = stat()
            guard lstat(url.path, &facts) == 0, facts.st_uid == geteuid(), let descriptor = try? lock(url) else {
                continue
            }
            try? FileManager.default.removeItem(at: url)
            close(descriptor)
        }
    }

    /// Opens and locks a folder; nil if another process has the lock, or the folder no longer exists.
    private static func lock(_ url: URL) throws -> Int32? {
        let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(url)
        }
        do { if try FileLock.take(descriptor, url) { return descriptor } } catch {
            close(descriptor)
            throw CommandError(TextTools.withoutPeriod(error.localizedDescription))
        }
        close(descriptor)
        return nil
    }

    private static func failure(_ url: URL) -> CommandError {
        CommandError("the temporary folder “\(url.path)” cannot be made: \(String(cString: strerror(errno)))")
    }
}

/// A store that is made in a folder beside its place, and comes there when it is whole: a part of a copy looks like a
/// whole store, and an empty one does, too.
///
/// The folder is removed when a signal ends the program; after `kill -9` by the next run that writes to the same place.
package final class StoreDraft {
    /// The store to fill: an empty file for those only who may read the source, if there is one; otherwise no file yet.
    package let url: URL
    private let target: URL
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - target: the place of the store, where nothing may be.
    ///   - source: the store whose permissions it gets; nil for those of any new file.
    /// - Throws: `CommandError` if something is there already, or nothing can be written there.
    package init(of target: URL, like source: URL?) throws {
        self.target = target
        try Self.expectNothing(at: target)
        let parent = target.deletingLastPathComponent()
        guard access(parent.path, W_OK | X_OK) == 0 else {
            throw CommandError("“\(target.path)” cannot be made: \(String(cString: strerror(errno)))")
        }
        let name = target.lastPathComponent
        // With the UUID, names have at most 255 bytes.
        var prefix = name.prefix(200)
        while prefix.utf8.count > 200 { prefix.removeLast() }
        folder = try TemporaryFolder(in: parent, prefix: ".\(prefix).pippin-")
        url = folder.url.appendingPathComponent(name)
        if let source { _ = try url.makeFile(like: source) }
    }

    /// Brings the store to its place. It must not be open.
    ///
    /// - Throws: `CommandError` if something has come there meanwhile; errors of the file system. Nothing is left there
    ///   then.
    package func publish() throws {
        try Self.expectNothing(at: target)
        guard try StoreFiles.move(url, to: target) else { throw Self.isThere(target) }
    }

    private static func isThere(_ url: URL) -> CommandError { CommandError("“\(url.path)” is there already") }

    private static func expectNothing(at target: URL) throws {
        var facts = stat()
        if lstat(target.path, &facts) == 0 { throw isThere(target) }
        // SQLite would take the log of a store that is gone for the new one's.
        for suffix in ["-wal", "-journal"] where stat(target.path + suffix, &facts) == 0 && facts.st_size > 0 {
            throw CommandError(
                "“\(target.path)\(suffix)” is there already. It belongs to a store that is gone; remove it, or choose "
                    + "another name")
        }
    }
}

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
        if haveCome { throw Ended() }
    }

    /// Whether a signal has come that ends the program.
    package static var haveCome: Bool { hasCome.load(ordering: .relaxed) }

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
