import Dispatch
import Foundation
import StoreEngine

#if canImport(Glibc)
    import Glibc

    /// Reports all writes to a store's files, using the kernel's notifications (inotify) for the store's folder.
    final class StoreWatcher: Sendable {
        private let watch: Int32
        private let number: Int

        /// Watches from now on, until `cancel()`.
        ///
        /// The result is `nil` if the kernel cannot provide more watches.
        ///
        /// - Parameters:
        ///   - url: the store; its write-ahead log is watched with it.
        ///   - queue: the queue on which `handler` is called.
        ///   - handler: called after writes, once for several in quick succession: immediately for the first, and at
        ///     most ten milliseconds later for the others.
        init?(_ url: URL, on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
            let url = url.linkedFile
            let names: Set<String> = [url.lastPathComponent, url.lastPathComponent + "-wal"]
            let listener = FolderWatches.Listener(names: names, queue: queue, handler: handler)
            guard let added = FolderWatches.shared?.add(listener, url.deletingLastPathComponent()) else { return nil }
            (watch, number) = added
        }

        /// Stops watching.
        func cancel() { FolderWatches.shared?.remove(number, of: watch) }

        /// Runs work that writes much to the store. The kernel reports no writes meanwhile, because its reports take a
        /// twentieth of the time of a large save. All listeners are informed afterwards. In a folder with other stores
        /// that are listened to, the reports go on.
        ///
        /// - Parameter work: what writes.
        /// - Returns: what the work returns.
        /// - Throws: what the work throws.
        func withoutReports<Result>(_ work: () throws -> Result) rethrows -> Result {
            guard let watches = FolderWatches.shared, watches.suppressWrites(watch) else { return try work() }
            defer { watches.resume(watch) }
            return try work()
        }

        deinit { cancel() }
    }

    /// The folders that a process watches, all by one inotify instance, since a user can have no more than 128 of them.
    private final class FolderWatches: @unchecked Sendable {
        // @unchecked Sendable: the lock guards all variables.

        /// Nil if the kernel cannot provide more instances.
        static let shared = FolderWatches()

        struct Listener: Sendable {
            let names: Set<String>
            let queue: DispatchQueue
            let handler: @Sendable () -> Void
        }

        /// How long further events wait after some have been read. A large save writes ten thousand times: the kernel
        /// merges events that have not been read yet, and waking up for each cost more than half as much as the save
        /// itself.
        private static let pause = DispatchTimeInterval.milliseconds(10)

        private let descriptor: Int32
        private let queue = DispatchQueue(label: "StoreWatcher")
        private let source: any DispatchSourceRead
        private let lock = NSLock()
        private var count = 0
        /// By the folder's watch, and by number.
        private var listeners: [Int32: [Int: Listener]] = [:]
        /// The path of each watch's folder.
        private var folders: [Int32: String] = [:]
        /// The watches that report no writes at present.
        private var suppressed: [Int32: SuppressedFolder] = [:]

        /// The number of callers that suppress a folder's reports, and the open folder, which may be moved meanwhile.
        private struct SuppressedFolder {
            var count = 1
            let folder: Int32

            /// A path that leads to the folder wherever it is.
            var path: String { "/proc/self/fd/\(folder)" }
        }

        private static let structureEvents = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
        private static let allEvents = UInt32(IN_MODIFY) | structureEvents

        private init?() {
            descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [unowned self] in
                notifyListeners()
                source.suspend()
                queue.asyncAfter(deadline: .now() + Self.pause) { [unowned self] in source.resume() }
            }
            source.resume()
        }

        func add(_ listener: Listener, _ folder: URL) -> (watch: Int32, number: Int)? {
            lock.withLock {
                // A folder that is watched already keeps its watch. Its writes are reported again, since the listener
                // may be for another store.
                let watch = inotify_add_watch(descriptor, folder.path, Self.allEvents)
                guard watch >= 0 else { return nil }
                count += 1
                listeners[watch, default: [:]][count] = listener
                folders[watch] = folder.path
                return (watch, count)
            }
        }

        func remove(_ number: Int, of watch: Int32) {
            lock.withLock {
                guard listeners[watch]?.removeValue(forKey: number) != nil, listeners[watch]?.isEmpty == true else {
                    return
                }
                listeners[watch] = nil
                folders[watch] = nil
                inotify_rm_watch(descriptor, watch)
            }
        }

        /// Stops the reports of writes to a folder, until each call has had its `resume`.
        ///
        /// - Returns: false if they cannot be stopped, or several stores of the folder are listened to.
        func suppressWrites(_ watch: Int32) -> Bool {
            lock.withLock {
                guard Set((listeners[watch] ?? [:]).values.map(\.names)).count == 1 else { return false }
                if suppressed[watch] != nil {
                    suppressed[watch]?.count += 1
                    return true
                }
                guard let path = folders[watch] else { return false }
                let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard folder >= 0 else { return false }
                let quiet = SuppressedFolder(folder: folder)
                let quieted = inotify_add_watch(descriptor, quiet.path, Self.structureEvents)
                if quieted == watch {
                    suppressed[watch] = quiet
                    return true
                }
                // Another folder has the path now; it may be watched, too.
                if quieted >= 0, listeners[quieted] != nil {
                    inotify_add_watch(descriptor, quiet.path, Self.allEvents)
                } else if quieted >= 0 {
                    inotify_rm_watch(descriptor, quieted)
                }
                close(folder)
                return false
            }
        }

        /// Reports writes to a folder again, and informs all its listeners.
        func resume(_ watch: Int32) {
            let concerned = lock.withLock { () -> [Listener] in
                suppressed[watch]?.count -= 1
                if let quiet = suppressed[watch], quiet.count == 0 {
                    suppressed[watch] = nil
                    if listeners[watch] != nil { inotify_add_watch(descriptor, quiet.path, Self.allEvents) }
                    close(quiet.folder)
                }
                return (listeners[watch] ?? [:]).map(\.value)
            }
            for listener in concerned { listener.queue.async(execute: listener.handler) }
        }

        /// Reads all waiting events, and informs the listeners that they concern.
        private func notifyListeners() {
            var names: [Int32: Set<String>] = [:]
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
                Self.events(buffer.prefix(count)) { watch, name in names[watch, default: []].insert(name) }
            }
            let concerned = lock.withLock { () -> [Listener] in
                // An event without a watch reports that events were lost, which may have concerned any listener.
                if names[-1] != nil { return listeners.values.flatMap(\.values) }
                return names.flatMap { watch, names in
                    (listeners[watch] ?? [:]).values.filter { !$0.names.isDisjoint(with: names) }
                }
            }
            for listener in concerned { listener.queue.async(execute: listener.handler) }
        }

        /// Splits events: 16 bytes each, of which the first four are the watch and the last four the length of the name
        /// that follows, padded with zeros.
        private static func events(_ bytes: ArraySlice<UInt8>, _ body: (Int32, String) -> Void) {
            var rest = bytes
            while rest.count >= 16 {
                let (watch, length) = rest.withUnsafeBytes {
                    (
                        $0.loadUnaligned(fromByteOffset: 0, as: Int32.self),
                        Int($0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                    )
                }
                body(watch, String(decoding: rest.dropFirst(16).prefix(length).prefix { $0 != 0 }, as: UTF8.self))
                rest = rest.dropFirst(16 + length)
            }
        }
    }
#else
    /// If the kernel does not report writes, only changes made by this process are announced.
    final class StoreWatcher: Sendable {
        init?(_ url: URL, on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) { return nil }

        func cancel() {}

        func withoutReports<Result>(_ work: () throws -> Result) rethrows -> Result { try work() }
    }
#endif
