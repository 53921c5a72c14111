import Foundation

/// Sorts more texts than fit into the memory: sorted parts are written to files in a private folder, and merged.
///
/// Texts with equal keys keep their order.
final class ExternalSort {
    private struct Item {
        let key: Double
        let text: [UInt8]
    }

    private let mostBytes: Int
    private var items: [Item] = []
    private var byteCount = 0
    private var folder: TemporaryFolder?
    private var parts: [URL] = []

    /// How many files are open at a time.
    private static let mostParts = 64

    /// - Parameter mostBytes: how many bytes of texts are kept in memory.
    init(mostBytes: Int = 8_000_000) { self.mostBytes = mostBytes }

    /// Adds a text.
    ///
    /// - Throws: `CommandError` if a part cannot be written.
    func add(_ text: String, key: Double) throws {
        let bytes = Array(text.utf8)
        items.append(Item(key: key, text: bytes))
        byteCount += bytes.count + 48
        if byteCount > mostBytes { try flush() }
    }

    /// Hands out all texts in the order of their keys, and forgets them.
    ///
    /// - Throws: `CommandError` if a part cannot be read, and the errors of `body`.
    func forEach(_ body: (String) throws -> Void) throws {
        if parts.isEmpty {
            sort()
            for item in items { try body(String(decoding: item.text, as: UTF8.self)) }
            items = []
            return
        }
        try flush()
        while parts.count > Self.mostParts {
            // Neighbours are merged, so that equal keys keep their order.
            var merged: [URL] = []
            for start in stride(from: 0, to: parts.count, by: Self.mostParts) {
                let group = Array(parts[start..<min(start + Self.mostParts, parts.count)])
                let (url, file) = try makePart()
                try Self.merge(group) { item in try Self.write(item, to: file) }
                try file.flush()
                for part in group { unlink(part.path) }
                merged.append(url)
            }
            parts = merged
        }
        try Self.merge(parts) { try body(String(decoding: $0.text, as: UTF8.self)) }
        (parts, folder) = ([], nil)
    }

    private func sort() {
        let order = items.indices.sorted { (items[$0].key, $0) < (items[$1].key, $1) }
        items = order.map { items[$0] }
        byteCount = 0
    }

    private func flush() throws {
        guard !items.isEmpty else { return }
        sort()
        let (url, file) = try makePart()
        for item in items { try Self.write(item, to: file) }
        try file.flush()
        parts.append(url)
        items.removeAll(keepingCapacity: true)
    }

    private func makePart() throws -> (URL, PartFile) {
        let folder = try self.folder ?? TemporaryFolder(prefix: "pippin-sort-")
        self.folder = folder
        let url = folder.url.appendingPathComponent(UUID().uuidString)
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError("“\(url.path)” cannot be made: \(String(cString: strerror(errno)))")
        }
        return (url, PartFile(descriptor))
    }

    /// Writes an item: its key and its length, of eight bytes each, and its text.
    private static func write(_ item: Item, to file: PartFile) throws {
        var data = Data()
        withUnsafeBytes(of: item.key.bitPattern.bigEndian) { data.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt64(item.text.count).bigEndian) { data.append(contentsOf: $0) }
        data.append(contentsOf: item.text)
        try file.buffer.write(data)
    }

    /// Hands out the items of sorted files in the order of their keys.
    private static func merge(_ parts: [URL], _ body: (Item) throws -> Void) throws {
        let readers = try parts.map { try PartReader($0) }
        var heads = try readers.map { try $0.next() }
        while true {
            var least: Int?
            // Of equal keys, that of the first file comes first.
            for (index, head) in heads.enumerated() {
                guard let head else { continue }
                if let found = least.flatMap({ heads[$0] }), found.key <= head.key { continue }
                least = index
            }
            guard let least, let item = heads[least] else { return }
            try body(item)
            heads[least] = try readers[least].next()
        }
    }

    /// A part that is written.
    private final class PartFile {
        let buffer: OutputBuffer
        private let descriptor: Int32

        init(_ descriptor: Int32) { (self.descriptor, buffer) = (descriptor, OutputBuffer(descriptor)) }

        deinit { close(descriptor) }

        func flush() throws { try buffer.flush() }
    }

    /// A part that is read.
    private final class PartReader {
        private let file: FileHandle
        private var buffer = Data()
        private var position = 0
        private let url: URL

        init(_ url: URL) throws {
            guard let file = FileHandle(forReadingAtPath: url.path) else {
                throw CommandError("“\(url.path)” cannot be read: it was removed meanwhile")
            }
            (self.url, self.file) = (url, file)
        }

        func next() throws -> Item? {
            guard let head = try take(16) else { return nil }
            let numbers = head.withUnsafeBytes { bytes in
                (0..<2).map { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
            }
            guard let count = Int(exactly: numbers[1]), let text = try take(count) else {
                throw CommandError("“\(url.path)” is cut off: the temporary folder may be full")
            }
            return Item(key: Double(bitPattern: numbers[0]), text: Array(text))
        }

        private func take(_ count: Int) throws -> Data? {
            while buffer.count - position < count {
                guard let more = try file.read(upToCount: max(1 << 16, count)), !more.isEmpty else { return nil }
                buffer = Data(buffer[position...]) + more
                position = 0
            }
            defer { position += count }
            return Data(buffer[position..<position + count])
        }
    }
}
