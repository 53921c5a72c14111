import Foundation

/// The pages of a database at one moment: those of the file, and those that frames of its log have in their place.
///
/// Not `Sendable`: it keeps the pages that it read last.
package final class DatabasePages {
    package let header: DatabaseHeader
    /// How many pages there are, bounded by the size of the file and the frames.
    package private(set) var count: Int
    let file: FileBytes
    let log: WriteAheadLog?
    /// The frame that has a page.
    private(set) var frames: [Int: Int] = [:]
    private let mostPages: Int
    private var kept: [Int: BTreePage] = [:]
    private static let mostKept = 256

    /// The most bytes of a row that are read.
    package static let mostPayload = 64_000_000

    /// The database as of a commit of its log; nil if neither the file nor the log has the header of a database.
    ///
    /// - Parameters:
    ///   - file: the database file.
    ///   - log: its log; nil for none.
    ///   - commit: the number of the commit, from 1; 0 for the file without its log; nil for the last one.
    package init?(_ file: FileBytes, _ log: WriteAheadLog?, commit: Int? = nil) {
        let written = DatabaseHeader(file.bytes(at: 0, count: DatabaseHeader.size))
        // A database that was never moved out of its log has an empty file.
        let first = log.flatMap { log in
            log.frames.lastIndex { $0.page == 1 && $0.state == .committed }.flatMap {
                DatabaseHeader(log.page(ofFrame: $0))
            }
        }
        guard let header = written ?? first else { return nil }
        (self.file, self.header) = (file, header)
        self.log = log?.pageSize == header.pageSize ? log : nil
        let filePages = (file.count + header.pageSize - 1) / header.pageSize
        count = filePages
        // The number of a page has four bytes, and may be any in a damaged log. Pages that were allocated and freed in
        // one transaction are not in a frame.
        mostPages = filePages + 16 * (self.log?.frames.count ?? 0) + 64
        for number in 0..<min(commit ?? .max, self.log?.commits.count ?? 0) { apply(commit: number) }
    }

    /// The database in a file, with what its log has committed, and without what its journal takes back; nil for a file
    /// that is not a database.
    ///
    /// - Parameter path: the file's path.
    package convenience init?(path: String) {
        guard var file = FileBytes(path: path) else { return nil }
        if let header = DatabaseHeader(file.bytes(at: 0, count: DatabaseHeader.size)),
            let journal = FileBytes(path: path + "-journal").flatMap({
                RollbackJournal($0, pageSize: header.pageSize)
            }), journal.isHot
        {
            file = journal.before(file)
        }
        self.init(file, FileBytes(path: path + "-wal").flatMap { WriteAheadLog($0) })
    }

    /// Adds the frames of a commit, by its index.
    func apply(commit number: Int) {
        guard let log, log.commits.indices.contains(number) else { return }
        let commit = log.commits[number]
        for frame in commit.frames { apply(frame: frame) }
        // A database becomes smaller when it is vacuumed.
        count = min(max(1, commit.databaseSize), mostPages)
    }

    /// Puts the page of a frame in place of the one that was there.
    func apply(frame: Int) {
        guard let log, log.frames.indices.contains(frame) else { return }
        let page = log.frames[frame].page
        guard page > 0, page <= mostPages else { return }
        frames[page] = frame
        kept[page] = nil
        count = max(count, page)
    }

    /// The bytes of a page; empty for one that there is not.
    package func page(_ number: Int) -> [UInt8] {
        guard number > 0, number <= count else { return [] }
        if let frame = frames[number] { return log?.page(ofFrame: frame) ?? [] }
        return filePage(number)
    }

    /// The bytes of a page as the file has it, without its log.
    package func filePage(_ number: Int) -> [UInt8] {
        guard number > 0, number - 1 <= file.count / header.pageSize else { return [] }
        return file.bytes(at: (number - 1) * header.pageSize, count: header.pageSize)
    }

    /// The next page that may have content: others are a hole in the file.
    package func nextContent(from number: Int) -> Int {
        guard number > 0, (number - 1) < file.count / header.pageSize else { return number }
        return max(number, file.nextContent(from: (number - 1) * header.pageSize) / header.pageSize + 1)
    }

    /// A page of a b-tree; nil for another one.
    package func tree(_ number: Int) -> BTreePage? {
        if let page = kept[number] { return page }
        let page = BTreePage(page(number), number: number, usableSize: header.usableSize)
        guard let page else { return nil }
        if kept.count >= Self.mostKept { kept.removeAll(keepingCapacity: true) }
        kept[number] = page
        return page
    }

    // MARK: Rows

    /// The payload of a cell, with what is on other pages.
    ///
    /// - Parameters:
    ///   - cell: the cell.
    ///   - bytes: the page that it is on.
    ///   - isPart: whether a page may have a part of a row; all may where nothing is said.
    /// - Returns: the bytes; fewer than `cell.payloadSize` where pages are missing, or the row is larger than
    ///   `mostPayload`.
    package func payload(
        of cell: Cell, in bytes: [UInt8], where isPart: (Int) -> Bool = { _ in true }
    ) -> [UInt8] {
        guard cell.local.upperBound <= bytes.count else { return [] }
        var payload = Array(bytes[cell.local])
        guard var next = cell.overflow else { return payload }
        let wanted = min(cell.payloadSize, Self.mostPayload)
        var seen: Set<Int> = []
        while payload.count < wanted, next > 0, next <= count, isPart(next), seen.insert(next).inserted {
            let page = page(next)
            guard page.count >= header.usableSize, let following = page.number32(at: 0) else { break }
            payload += page[4..<4 + min(header.usableSize - 4, wanted - payload.count)]
            next = Int(following)
        }
        return payload
    }

    /// The pages that follow a cell, as its chain names them.
    func overflowPages(of cell: Cell) -> [Int] {
        guard var next = cell.overflow else { return [] }
        var (pages, rest): ([Int], Int) = ([], cell.payloadSize - cell.local.count)
        var seen: Set<Int> = []
        while rest > 0, next > 0, next <= count, seen.insert(next).inserted {
            pages.append(next)
            rest -= header.usableSize - 4
            let bytes =
                frames[next].map { log?.page(ofFrame: $0) ?? [] }
                ?? file.bytes(at: (next - 1) * header.pageSize, count: 4)
            guard let following = bytes.number32(at: 0) else { break }
            next = Int(following)
        }
        return pages
    }

    /// Hands out the pages of a tree from its root on, each once, parents first and in the order of their keys.
    ///
    /// - Parameters:
    ///   - root: the page of the root.
    ///   - body: takes a page and its number, and says whether to go on.
    package func forEachPage(of root: Int, _ body: (Int, BTreePage) throws -> Bool) rethrows {
        var stack = [root]
        var seen: Set<Int> = []
        while let number = stack.popLast() {
            guard number > 0, number <= count, let page = tree(number) else { continue }
            // Leaves are children of one page only, unless the file is damaged: their parents are enough to remember.
            if page.kind.isInterior, !seen.insert(number).inserted { continue }
            guard try body(number, page) else { return }
            stack += page.children.reversed()
        }
    }

    /// Hands out the rows of a table, by key.
    ///
    /// - Parameters:
    ///   - root: the page of the table's root.
    ///   - body: takes a row's key, its record, and the page.
    /// - Returns: how many cells could not be read.
    @discardableResult
    package func forEachRow(of root: Int, _ body: (Int64, Record, Int) throws -> Void) rethrows -> Int {
        var unread = 0
        try forEachPage(of: root) { number, page in
            guard page.kind == .tableLeaf else { return page.kind == .tableInterior }
            for index in page.cells.indices {
                guard let cell = page.cell(index), let record = Record(payload(of: cell, in: page.bytes)) else {
                    unread += 1
                    continue
                }
                try body(cell.key, record, number)
            }
            return true
        }
        return unread
    }

    /// The record of a row; nil if there is none with that key.
    package func row(_ key: Int64, in root: Int) -> Record? {
        var number = root
        for _ in 0..<40 {
            guard let page = tree(number) else { return nil }
            if let child = page.child(for: key) {
                number = child
                continue
            }
            guard page.kind == .tableLeaf else { return nil }
            var (low, high) = (0, page.cells.count)
            while low < high {
                let middle = (low + high) / 2
                guard let cell = page.cell(middle) else { return nil }
                if cell.key == key { return Record(payload(of: cell, in: page.bytes)) }
                if cell.key < key { low = middle + 1 } else { high = middle }
            }
            return nil
        }
        return nil
    }
}

/// The first 100 bytes of a database (https://www.sqlite.org/fileformat2.html#the_database_header).
package struct DatabaseHeader: Equatable, Sendable {
    /// How texts are encoded.
    package enum Encoding: Int, Sendable {
        case utf8 = 1
        case utf16LittleEndian
        case utf16BigEndian
    }

    /// The bytes of a page.
    package let pageSize: Int
    /// The bytes of a page that the format uses: all but those reserved for extensions.
    package let usableSize: Int
    /// How many pages the database has, as the header says; nil if it is not to be trusted.
    package let pageCount: Int?
    package let firstFreePage: Int
    package let freePageCount: Int
    package let encoding: Encoding
    /// Whether pages that map others to their parents are among the pages.
    package let hasPointerMap: Bool

    static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Reads a header; nil for other bytes, and for a page size that SQLite does not have.
    ///
    /// - Parameter bytes: the beginning of the file.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, bytes.starts(with: Self.magic), let written = bytes.number16(at: 16) else {
            return nil
        }
        pageSize = written == 1 ? 65536 : written
        usableSize = pageSize - Int(bytes[20])
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1, usableSize >= 480 else { return nil }
        func number(_ place: Int) -> Int { Int(bytes.number32(at: place) ?? 0) }
        // The number of pages is valid if the change counter is the one with which it was written.
        pageCount = number(24) == number(92) && number(28) > 0 ? number(28) : nil
        (firstFreePage, freePageCount) = (number(32), number(36))
        encoding = Encoding(rawValue: number(56)) ?? .utf8
        hasPointerMap = number(52) != 0
    }

    /// Whether a page has no content of tables: a pointer map, or the page with the bytes that locks are set on.
    package func isBookkeeping(_ page: Int) -> Bool {
        if page == 0x4000_0000 / pageSize + 1 { return true }
        guard hasPointerMap, page >= 2 else { return false }
        let group = usableSize / 5 + 1
        var map = (page - 2) / group * group + 2
        if map == 0x4000_0000 / pageSize + 1 { map += 1 }
        return page == map
    }
}

/// The bytes of a file, read piece by piece. Beyond the end there are fewer, or none.
package final class FileBytes: Sendable {
    private enum Source {
        case memory([UInt8])
        case file(Int32)
        /// Some pages of a file, by their numbers, are at places of another one.
        case replaced(FileBytes, pageSize: Int, [Int: Int], FileBytes)
    }

    /// How many bytes there are.
    package let count: Int
    private let source: Source

    /// Bytes in memory.
    package init(_ bytes: [UInt8]) { (count, source) = (bytes.count, .memory(bytes)) }

    /// A file, which is opened for reading only; nil if it cannot be opened, or is a folder or a device.
    ///
    /// - Parameter path: the file's path.
    package init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        (count, source) = (Int(facts.st_size), .file(descriptor))
    }

    /// A file in which pages of another one are in the place of its own.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - count: how many bytes there are.
    ///   - pageSize: the bytes of a page.
    ///   - places: where the bytes of pages begin in the other file, by their numbers from 1.
    ///   - other: the other file.
    init(_ file: FileBytes, count: Int, pageSize: Int, replacing places: [Int: Int], by other: FileBytes) {
        (self.count, source) = (count, .replaced(file, pageSize: pageSize, places, other))
    }

    deinit { if case .file(let descriptor) = source { close(descriptor) } }

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - offset: where they begin.
    ///   - wanted: how many are wanted.
    /// - Returns: those that there are, fewer at the end of the file.
    package func bytes(at offset: Int, count wanted: Int) -> [UInt8] {
        guard offset >= 0, wanted > 0, offset < count else { return [] }
        let length = min(wanted, count - offset)
        switch source {
        case .memory(let bytes): return Array(bytes[offset..<offset + length])
        case .replaced(let file, let pageSize, let places, let other):
            var (result, place): ([UInt8], Int) = ([], offset)
            while place < offset + length {
                let (page, start) = (place / pageSize + 1, place % pageSize)
                let part = min(pageSize - start, offset + length - place)
                let bytes =
                    places[page].map { other.bytes(at: $0 + start, count: part) } ?? file.bytes(at: place, count: part)
                // What the file was cut off from is in the journal, or nowhere.
                result += bytes + [UInt8](repeating: 0, count: part - bytes.count)
                place += part
            }
            return result
        case .file(let descriptor):
            return [UInt8](unsafeUninitializedCapacity: length) { buffer, done in
                while done < length {
                    let read = pread(
                        descriptor, buffer.baseAddress?.advanced(by: done), length - done, off_t(offset + done))
                    if read < 0, errno == EINTR { continue }
                    guard read > 0 else { return }
                    done += read
                }
            }
        }
    }

    /// The first place from a given one on that may have content: behind it the file system has nothing but a hole.
    ///
    /// - Parameter offset: where to begin.
    /// - Returns: the place; the end of the file if only a hole follows.
    package func nextContent(from offset: Int) -> Int {
        if case .replaced(let file, let pageSize, let places, _) = source, offset < count {
            return places[offset / pageSize + 1] != nil ? offset : min(count, file.nextContent(from: offset))
        }
        guard case .file(let descriptor) = source, offset < count else { return min(offset, count) }
        // SEEK_DATA, which Foundation does not name.
        let place = lseek(descriptor, off_t(offset), 3)
        if place >= 0 { return max(offset, Int(place)) }
        return errno == ENXIO ? count : offset
    }
}

extension [UInt8] {
    /// A number of two bytes, the most significant first; nil beyond the end.
    package func number16(at place: Int) -> Int? {
        guard place >= 0, place <= count - 2 else { return nil }
        return Int(self[place]) << 8 | Int(self[place + 1])
    }

    /// A number of four bytes, the most significant first; nil beyond the end.
    package func number32(at place: Int) -> UInt32? {
        guard place >= 0, place <= count - 4 else { return nil }
        return UInt32(self[place]) << 24 | UInt32(self[place + 1]) << 16 | UInt32(self[place + 2]) << 8
            | UInt32(self[place + 3])
    }

    /// A number of SQLite's variable length, of one to nine bytes.
    ///
    /// - Parameters:
    ///   - place: where it begins.
    ///   - end: where the bytes end that it may take.
    /// - Returns: the number and how many bytes it takes; nil if it does not end before `end`.
    package func varint(at place: Int, before end: Int) -> (value: Int64, count: Int)? {
        guard place >= 0, end <= count, place < end else { return nil }
        var value: UInt64 = 0
        for length in 0..<9 {
            guard place + length < end else { return nil }
            let byte = self[place + length]
            if length == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), 9) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), length + 1) }
        }
        return nil
    }
}
