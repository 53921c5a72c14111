/// A row that is not in the database as it is read, and was in its file, its log, or unused space.
package struct RecoveredRow: Sendable {
    /// Where a row comes from.
    package enum Origin: Equatable, Sendable {
        /// The database file, where the log has another version, or none.
        case file
        /// The database file, with what an interrupted transaction wrote and the journal takes back.
        case interrupted
        /// A page of the rollback journal, by its number there from 1: what was there before the last transaction.
        case journal(Int)
        /// A frame of the log, by its number from 1.
        case frame(Int, WriteAheadLog.State)
        /// A page that the list of free pages has, or to which nothing leads.
        case freePage
        /// A free block of a page that is in use.
        case freeBlock
        /// The space between the places and the cells of a page that is in use.
        case unallocated
    }

    /// The table, by its index among the shapes.
    package let table: Int
    /// The number of the row; nil where its bytes are overwritten.
    package let key: Int64?
    /// The values; nil for those that are overwritten.
    package let values: [RecordValue?]
    package let origin: Origin
    package let page: Int
    /// Where the row begins on its page.
    package let offset: Int
    /// The frame of the log that has the page, by its number from 1; nil for a page of the file.
    package let frame: Int?
    /// The commit of the log that the frame belongs to, by its number from 1; nil for none.
    package let commit: Int?
    /// From 0 to 1: how sure it is that there was such a row in that table.
    package let confidence: Double
}

/// Looks for rows that are not there any more.
///
/// Each version of a row is reported once, with the first place that has it: the file, the frames of the log in their
/// order, frames of earlier rounds of the log, unused space. A version that the database has as it is read is not
/// reported, and neither is one without a number if any row of its table has these values.
package final class Recovery {
    /// The database as it is read.
    package let live: DatabasePages
    package let log: WriteAheadLog?
    package let journal: RollbackJournal?
    /// The tables: those of the database as it is read, then those that only its file has.
    package let shapes: [TableShape]
    package let use: PageUse
    /// The file, and the one without what the journal takes back.
    private let (written, file): (FileBytes, FileBytes)
    private let carver: Carver
    private let schemaRoots: [Int]
    private var seen: Set<Int> = []
    private var held: [RecoveredRow] = []
    private var heldBytes = 0
    private var body: (RecoveredRow) throws -> Void = { _ in }

    /// How many bytes of rows without a number are kept until they are compared with all rows of their tables.
    private static let mostHeld = 8_000_000

    /// Reads the schema, and follows all trees; nil for a file that is not a database.
    ///
    /// - Parameters:
    ///   - written: the database file.
    ///   - log: its write-ahead log; nil for none.
    ///   - journal: its rollback journal; nil for none.
    ///   - commit: the commit as of which the database is read: see `DatabasePages`.
    ///   - refine: adds what is known of the values of columns.
    package init?(
        _ written: FileBytes, _ log: WriteAheadLog?, journal: FileBytes? = nil, commit: Int? = nil,
        refine: (TableShape) -> TableShape = { $0 }
    ) {
        let header = DatabaseHeader(written.bytes(at: 0, count: DatabaseHeader.size))
        let found = header.flatMap { header in
            journal.flatMap { RollbackJournal($0, pageSize: header.pageSize) }
        }
        let file = found.flatMap { $0.isHot ? $0.before(written) : nil } ?? written
        guard let live = DatabasePages(file, log, commit: commit), let base = DatabasePages(file, log, commit: 0) else {
            return nil
        }
        (self.written, self.file, self.journal) = (written, file, found)
        (self.live, self.log) = (live, live.log)
        let current = TableShape.all(in: live)
        let former = TableShape.all(in: base).filter { old in
            !current.contains { $0.name == old.name && $0.columns == old.columns }
        }
        // A former table has no root in the database as it is read.
        shapes = (current + former.map { TableShape(name: $0.name, root: 0, columns: $0.columns) }).map(refine)
        schemaRoots = Self.roots(in: live)
        use = PageUse(live, roots: schemaRoots)
        carver = Carver(shapes: shapes, encoding: live.header.encoding, usableSize: live.header.usableSize)
    }

    /// The roots of all tables and indexes.
    private static func roots(in pages: DatabasePages) -> [Int] {
        var roots: [Int] = []
        pages.forEachRow(of: 1) { _, record, _ in
            guard record.values.count > 3, case .integer(let root)? = record.values[3], root > 1, root <= pages.count
            else { return }
            roots.append(Int(root))
        }
        return roots
    }

    /// Looks everywhere.
    ///
    /// - Parameters:
    ///   - progress: told which part of the whole is done, from 0 to 1.
    ///   - body: takes each row.
    /// - Throws: the errors of `progress` and `body`.
    package func run(
        progress: (Double) throws -> Void = { _ in }, _ body: (RecoveredRow) throws -> Void
    ) throws {
        try withoutActuallyEscaping(body) { body in
            (seen, held, heldBytes, self.body) = ([], [], 0, body)
            defer { self.body = { _ in } }
            let frameCount = log?.frames.count ?? 0
            let total = Double(max(1, frameCount + live.count))
            try lookIntoJournal()
            try lookIntoLog { try progress(Double($0) / total) }
            try lookIntoUnusedSpace { try progress(Double(frameCount + $0) / total) }
            try release()
        }
    }

    // MARK: The journal

    private func lookIntoJournal() throws {
        guard let journal else { return }
        // The other state of the pages that the journal has: the one before the last transaction, or the one that an
        // interrupted transaction left.
        let other = journal.isHot ? written : journal.before(written)
        guard let pages = DatabasePages(other, nil) else { return }
        let owners = PageOwners(pages, roots: tableRoots(in: pages))
        for (index, entry) in journal.entries.enumerated() where entry.page <= pages.count {
            try examine(
                journal.isHot ? pages.filePage(entry.page) : journal.page(of: entry), PagePlace(page: entry.page),
                journal.isHot ? .interrupted : .journal(index + 1), pages, owners[entry.page])
        }
        guard journal.isHot else { return }
        // Pages that the transaction appended.
        for number in stride(from: live.count + 1, through: pages.count, by: 1) {
            try examine(pages.filePage(number), PagePlace(page: number), .interrupted, pages, owners[number])
        }
    }

    // MARK: The log

    private func lookIntoLog(_ progress: (Int) throws -> Void) throws {
        guard let log, !log.frames.isEmpty, let pages = DatabasePages(file, log, commit: 0) else { return }
        var roots = tableRoots(in: pages)
        var owners = PageOwners(pages, roots: roots)
        for number in Set(log.frames.filter { $0.round == 0 }.map(\.page)).sorted() where number <= pages.count {
            try examine(pages.filePage(number), PagePlace(page: number), .file, pages, owners[number])
        }
        for (index, commit) in log.commits.enumerated() {
            pages.apply(commit: index)
            let changed = commit.frames.map { log.frames[$0].page }
            if changed.contains(1) { roots = tableRoots(in: pages) }
            owners.follow(changed, pages, roots: roots)
            for frame in commit.frames {
                try examine(frame, in: log, pages, owners)
                try progress(frame)
            }
        }
        for frame in (log.commits.last?.frames.upperBound ?? 0)..<log.frames.count where log.frames[frame].round == 0 {
            pages.apply(frame: frame)
            try examine(frame, in: log, pages, owners)
        }
        // Rounds that were written over: nobody knows the state of the other pages at that time.
        let rounds = (log.frames.last?.round ?? 0)
        for round in stride(from: rounds, to: 0, by: -1) {
            guard let pages = DatabasePages(file, log, commit: 0) else { return }
            for frame in log.frames.indices where log.frames[frame].round == round {
                pages.apply(frame: frame)
                try examine(frame, in: log, pages, owners)
                try progress(frame)
            }
        }
    }

    /// The table of each root, by the schema of a moment.
    private func tableRoots(in pages: DatabasePages) -> [Int: Int] {
        var roots: [Int: Int] = [:]
        for table in TableShape.all(in: pages) {
            roots[table.root] = shapes.firstIndex {
                $0.name == table.name && $0.columns.map(\.name) == table.columns.map(\.name)
            }
        }
        return roots
    }

    private struct PagePlace {
        var page: Int
        /// The index of the frame; nil for a page of the file.
        var frame: Int?
        var commit: Int?
        /// What the confidence in rows of that page is multiplied with.
        var certainty = 1.0
    }

    private func examine(_ frame: Int, in log: WriteAheadLog, _ pages: DatabasePages, _ owners: PageOwners) throws {
        let facts = log.frames[frame]
        // Sums that do not fit are those of a frame that was written in part, or whose predecessor was written over.
        let certainty: Double =
            switch facts.state {
            case .committed: 1
            case .uncommitted: 0.95
            case .broken, .earlier: facts.isChained ? 0.9 : 0.7
            }
        try examine(
            log.page(ofFrame: frame),
            PagePlace(page: facts.page, frame: frame, commit: log.commit(ofFrame: frame), certainty: certainty),
            .frame(frame + 1, facts.state), pages, owners[facts.page])
    }

    /// The rows of a page that was in use, and what is left of others in it.
    private func examine(
        _ bytes: [UInt8], _ place: PagePlace, _ origin: RecoveredRow.Origin, _ pages: DatabasePages, _ owner: Int?
    ) throws {
        guard let page = BTreePage(bytes, number: place.page, usableSize: live.header.usableSize) else { return }
        if page.kind == .tableLeaf, place.page != 1 {
            try rows(of: page, place, origin, pages, owner, isInUse: origin != .freePage)
        }
        try carve(page, place, owner) { _ in origin }
    }

    /// The rows that a page lists.
    private func rows(
        of page: BTreePage, _ place: PagePlace, _ origin: RecoveredRow.Origin, _ pages: DatabasePages, _ owner: Int?,
        isInUse: Bool
    ) throws {
        for index in page.cells.indices {
            guard let cell = page.cell(index),
                let header = Record.header(page.bytes, at: cell.local.lowerBound, before: cell.local.upperBound)
            else { continue }
            let payload = pages.payload(of: cell, in: page.bytes) { isInUse || use.mayKeepParts($0) }
            let record = Record(header.types, content: payload, at: header.size)
            let (table, certainty): (Int, Double)
            if isInUse, let owner, header.types.count <= shapes[owner].columns.count {
                (table, certainty) = (owner, 1)
            } else if let found = carver.table(header.types, record, owner: owner) {
                (table, certainty) = (
                    found.index, 0.95 * found.confidence * (cell.overflow == nil || isInUse ? 1 : 0.7)
                )
            } else {
                continue
            }
            try find(
                row(
                    table, cell.key, record, origin, place, page.cells[index],
                    certainty * (record.isComplete ? 1 : 0.8)))
        }
    }

    // MARK: Unused space

    private func lookIntoUnusedSpace(_ progress: (Int) throws -> Void) throws {
        let owners = PageOwners(live, roots: tableRoots(in: live))
        let filePages = (file.count + live.header.pageSize - 1) / live.header.pageSize
        var number = 1
        while number <= max(live.count, filePages) {
            try progress(number)
            let frame = live.frames[number]
            if frame == nil, number <= filePages {
                let next = live.nextContent(from: number)
                if next > number {
                    number = next
                    continue
                }
            }
            let place = PagePlace(page: number, frame: frame, commit: frame.flatMap { log?.commit(ofFrame: $0) })
            // A file may have pages behind the end of the database.
            let bytes = number <= live.count ? live.page(number) : live.filePage(number)
            let kind = number <= live.count ? use[number] : .unreachable
            try lookInto(bytes, place, kind, owners[number])
            number += 1
        }
    }

    private func lookInto(_ bytes: [UInt8], _ place: PagePlace, _ kind: PageUse.Kind, _ owner: Int?) throws {
        switch kind {
        case .overflow, .bookkeeping: return
        case .tree:
            guard let page = BTreePage(bytes, number: place.page, usableSize: live.header.usableSize) else { return }
            try carve(page, place, owner) { $0 ? .freeBlock : .unallocated }
        case .freeTrunk, .freeLeaf, .unreachable:
            if let page = BTreePage(bytes, number: place.page, usableSize: live.header.usableSize) {
                if page.kind == .tableLeaf {
                    try rows(of: page, place, .freePage, live, nil, isInUse: false)
                }
                try carve(page, place, nil) { _ in .freePage }
            } else {
                try carve(0..<live.header.usableSize, of: bytes, place, nil, isFreeBlock: false, .freePage)
            }
        }
    }

    private func carve(
        _ page: BTreePage, _ place: PagePlace, _ owner: Int?, origin: (Bool) -> RecoveredRow.Origin
    ) throws {
        for block in page.freeBlocks {
            try carve(block, of: page.bytes, place, owner, isFreeBlock: true, origin(true))
        }
        try carve(page.unallocated, of: page.bytes, place, owner, isFreeBlock: false, origin(false))
    }

    private func carve(
        _ region: Range<Int>, of bytes: [UInt8], _ place: PagePlace, _ owner: Int?, isFreeBlock: Bool,
        _ origin: RecoveredRow.Origin
    ) throws {
        let payload: (Cell) -> [UInt8] = { [live, use] cell in
            live.payload(of: cell, in: bytes) { use.mayKeepParts($0) }
        }
        try carver.carve(region, of: bytes, owner: owner, isFreeBlock: isFreeBlock, payload: payload) { find in
            try self.find(
                row(find.table, find.key, find.record, origin, place, find.offset, find.confidence))
        }
    }

    // MARK: Versions

    private func row(
        _ table: Int, _ key: Int64?, _ record: Record, _ origin: RecoveredRow.Origin, _ place: PagePlace, _ offset: Int,
        _ confidence: Double
    ) -> RecoveredRow {
        RecoveredRow(
            table: table, key: key, values: normalized(record, table), origin: origin, page: place.page,
            offset: offset, frame: place.frame.map { $0 + 1 }, commit: place.commit,
            confidence: confidence * place.certainty)
    }

    /// The values of all columns: a record may lack those of columns that were added after it was written.
    private func normalized(_ record: Record, _ table: Int) -> [RecordValue?] {
        let missing = shapes[table].columns.count - record.values.count
        return missing > 0 ? record.values + Array(repeating: .null, count: missing) : record.values
    }

    /// Reports a row, unless it is known.
    private func find(_ row: RecoveredRow) throws {
        guard let key = row.key else {
            held.append(row)
            heldBytes += 200 + row.values.reduce(0) { $0 + Self.size($1) }
            if heldBytes > Self.mostHeld { try release() }
            return
        }
        let shape = shapes[row.table]
        if shape.root > 0, let record = live.row(key, in: shape.root),
            isPart(row.values, of: normalized(record, row.table))
        {
            return
        }
        guard seen.insert(fingerprint(row.table, key, row.values)).inserted else { return }
        seen.insert(fingerprint(row.table, nil, row.values))
        try body(row)
    }

    private static func size(_ value: RecordValue?) -> Int {
        switch value {
        case .text(let bytes), .blob(let bytes): bytes.count + 32
        default: 32
        }
    }

    /// Whether all values that are there are those of another row.
    private func isPart(_ values: [RecordValue?], of others: [RecordValue?]) -> Bool {
        zip(values, others).allSatisfy { $0 == nil || $0 == $1 }
    }

    private func fingerprint(_ table: Int, _ key: Int64?, _ values: [RecordValue?]) -> Int {
        var hasher = Hasher()
        hasher.combine(table)
        hasher.combine(key)
        hasher.combine(values)
        return hasher.finalize()
    }

    /// Reports the rows without numbers that have been kept, unless a row of their table has these values.
    private func release() throws {
        guard !held.isEmpty else { return }
        let tables = Set(held.map(\.table))
        var wanted = Set(held.map { fingerprint($0.table, nil, $0.values) }).subtracting(seen)
        for table in tables where shapes[table].root > 0 {
            live.forEachRow(of: shapes[table].root) { _, record, _ in
                wanted.remove(fingerprint(table, nil, normalized(record, table)))
            }
        }
        let rows = held
        (held, heldBytes) = ([], 0)
        for row in rows {
            let print = fingerprint(row.table, nil, row.values)
            guard wanted.contains(print), seen.insert(print).inserted else { continue }
            try body(row)
        }
    }
}
