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

    /// The database in a file, with what its log has committed; nil for a file that is not a database.
    ///
    /// - Parameter path: the file's path.
    package convenience init?(path: String) {
        guard let file = FileBytes(path: path) else { return nil }
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
