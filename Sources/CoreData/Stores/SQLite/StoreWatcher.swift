import Dispatch
import Foundation

#if canImport(Glibc)
    import Glibc

    /// Hears of writes to a store's files, whoever makes them: the kernel tells (inotify) of what happens in the store's folder.
    final class StoreWatcher: @unchecked Sendable {
        // @unchecked Sendable: immutable, and a dispatch source may be used from any thread.
        private let source: any DispatchSourceRead

        /// Watches from now on, until `cancel()`.
        ///
        /// - Parameters:
        ///   - url: the store; its write-ahead log is watched with it.
        ///   - queue: where `heard` is called.
        ///   - heard: called after writes, once for several that come together.
        /// - Returns: nil when the kernel has no more watches to give.
        init?(_ url: URL, on queue: DispatchQueue, heard: @escaping @Sendable () -> Void) {
            let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
            guard inotify_add_watch(descriptor, url.deletingLastPathComponent().path, events) >= 0 else {
                close(descriptor)
                return nil
            }
            let names: Set<String> = [url.lastPathComponent, url.lastPathComponent + "-wal"]
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { if Self.concern(names, descriptor) { heard() } }
            source.setCancelHandler { close(descriptor) }
            source.resume()
        }

        /// Stops watching.
        func cancel() { source.cancel() }

        deinit { source.cancel() }

        /// Reads all events that wait, and tells whether one is about a name.
        private static func concern(_ names: Set<String>, _ descriptor: Int32) -> Bool {
            var isConcerned = false
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { return isConcerned }
                var position = 0
                // An event is 16 bytes, of which the last four are the length of the name that follows, padded with zeros.
                while position + 16 <= count {
                    let (watch, length) = buffer.withUnsafeBytes { bytes in
                        (
                            bytes.loadUnaligned(fromByteOffset: position, as: Int32.self),
                            Int(bytes.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self))
                        )
                    }
                    let end = min(position + 16 + length, count)
                    let name = String(decoding: buffer[(position + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
                    // Without a watch it is the news that events were lost.
                    if watch < 0 || names.contains(name) { isConcerned = true }
                    position = end
                }
            }
        }
    }
#else
    /// Where the kernel does not tell of writes, only changes made through this process are announced.
    final class StoreWatcher: Sendable {
        init?(_ url: URL, on queue: DispatchQueue, heard: @escaping @Sendable () -> Void) { return nil }

        func cancel() {}
    }
#endif
