/// A rollback journal (https://www.sqlite.org/fileformat2.html#the_rollback_journal): pages as they were before a
/// transaction changed them. Pure, but for the file.
///
/// A journal with its header is that of a transaction that was interrupted: SQLite puts its pages back before it reads
/// the database. One whose header is zeros is left from a transaction that was committed (`journal_mode = PERSIST`):
/// its pages are earlier versions.
package struct RollbackJournal: Sendable {
    /// A page in the journal.
    package struct Entry: Equatable, Sendable {
        /// Its number.
        package let page: Int
        /// Where its bytes begin in the journal.
        let offset: Int
    }

    package let pageSize: Int
    package private(set) var entries: [Entry] = []
    /// How many pages the database had before the transaction; nil if the header does not say so any more.
    package let databaseSize: Int?
    /// Whether SQLite would put the pages back.
    package var isHot: Bool { databaseSize != nil && !entries.isEmpty }
    private let source: FileBytes

    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    private static let headerSize = 28
    private static let mostEntries = 4_000_000

    /// Reads a journal; nil for a file without a page of a database.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - pageSize: the bytes of a page of the database.
    package init?(_ source: FileBytes, pageSize: Int) {
        (self.source, self.pageSize) = (source, pageSize)
        let header = source.bytes(at: 0, count: Self.headerSize)
        guard header.count == Self.headerSize else { return nil }
        if header.starts(with: Self.magic) {
            guard header.number32(at: 24).map({ Int($0) }) == pageSize else { return nil }
            // Without a number of pages, what follows was not written out before the database was changed.
            let isWritten = header.number32(at: 8) != 0
            databaseSize = isWritten ? header.number32(at: 16).map { Int($0) } : nil
            readSegments(isWritten: isWritten)
        } else {
            databaseSize = nil
            guard header.allSatisfy({ $0 == 0 }) else { return nil }
            readRest()
        }
        if entries.isEmpty { return nil }
    }

    /// The bytes of a page.
    package func page(of entry: Entry) -> [UInt8] { source.bytes(at: entry.offset, count: pageSize) }

    /// The file as it was before the transaction.
    package func before(_ file: FileBytes) -> FileBytes {
        var places: [Int: Int] = [:]
        // A page that is there twice was first as it is in the first place.
        for entry in entries where places[entry.page] == nil { places[entry.page] = entry.offset }
        // A damaged header may say any number of pages; there are no more than both files have.
        let most = (file.count + source.count) / pageSize + 1
        return FileBytes(
            file, count: databaseSize.map { min($0, most) * pageSize } ?? file.count, pageSize: pageSize,
            replacing: places, by: source)
    }

    /// Reads the pages behind each header. Where a sum is wrong, SQLite reads no more.
    private mutating func readSegments(isWritten: Bool) {
        var offset = 0
        while true {
            let header = source.bytes(at: offset, count: Self.headerSize)
            guard header.count == Self.headerSize, header.starts(with: Self.magic), let count = header.number32(at: 8),
                let nonce = header.number32(at: 12), let sector = header.number32(at: 20),
                (32...65536).contains(sector), sector.nonzeroBitCount == 1
            else { return }
            let isOpen = count == .max || !isWritten
            var place = offset + Int(sector)
            var rest = isOpen ? Int.max : Int(count)
            while rest > 0 {
                guard entries.count < Self.mostEntries, let (entry, found) = entry(at: place), found == nonce else {
                    return
                }
                entries.append(entry)
                (place, rest) = (place + pageSize + 8, rest - 1)
            }
            // The next header begins a sector.
            offset = (place + Int(sector) - 1) / Int(sector) * Int(sector)
        }
    }

    /// Reads what is left behind a header that is zeros. All pages have the same first summand of their sums.
    private mutating func readRest() {
        for sector in [512, 4096, 1024, 2048, 8192, 16384, 32768, 65536] {
            var (place, nonce): (Int, UInt32?) = (sector, nil)
            while entries.count < Self.mostEntries, let (entry, found) = entry(at: place), found == nonce ?? found {
                // One page alone has any summand, so that it has to look like a page.
                let isTree = BTreePage(page(of: entry), number: entry.page, usableSize: pageSize) != nil
                guard nonce != nil || isTree || self.entry(at: place + pageSize + 8)?.nonce == found else { break }
                entries.append(entry)
                (nonce, place) = (found, place + pageSize + 8)
            }
            if !entries.isEmpty { return }
        }
    }

    /// A page, and the first summand of its sum.
    private func entry(at place: Int) -> (Entry, nonce: UInt32)? {
        let bytes = source.bytes(at: place, count: pageSize + 8)
        guard bytes.count == pageSize + 8, let number = bytes.number32(at: 0), number > 0,
            let sum = bytes.number32(at: pageSize + 4)
        else { return nil }
        var added: UInt32 = 0
        for index in stride(from: pageSize - 200, to: 0, by: -200) { added &+= UInt32(bytes[4 + index]) }
        return (Entry(page: Int(number), offset: place + 4), sum &- added)
    }
}
