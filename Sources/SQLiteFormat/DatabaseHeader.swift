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
