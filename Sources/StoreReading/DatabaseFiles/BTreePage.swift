/// A page of a b-tree (https://www.sqlite.org/fileformat2.html#b_tree_pages), with the space in it that is not used.
package struct BTreePage: Sendable {
    package enum Kind: UInt8, Sendable {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
    }

    package let kind: Kind
    package let bytes: [UInt8]
    /// Where the cells begin, by key.
    package let cells: [Int]
    /// The child with the greatest keys; nil for a leaf.
    package let rightmostChild: Int?
    /// Free blocks, in the order of the page. Their first four bytes are the next block's place and the size.
    package let freeBlocks: [Range<Int>]
    /// The space between the cells' places and the cells.
    package let unallocated: Range<Int>
    let usableSize: Int

    /// Reads a page; nil for one of another kind, and for one that contradicts itself.
    ///
    /// - Parameters:
    ///   - bytes: the page.
    ///   - number: its number: the first page has the header of the database before its own.
    ///   - usableSize: the bytes of a page that are used.
    package init?(_ bytes: [UInt8], number: Int, usableSize: Int) {
        let start = number == 1 ? DatabaseHeader.size : 0
        guard bytes.count >= usableSize, usableSize >= 480, let kind = Kind(rawValue: bytes[start]),
            let firstFree = bytes.number16(at: start + 1), let count = bytes.number16(at: start + 3),
            let written = bytes.number16(at: start + 5)
        else { return nil }
        let content = written == 0 ? 65536 : written
        let pointers = start + (kind.isInterior ? 12 : 8)
        let pointersEnd = pointers + 2 * count
        guard pointersEnd <= content, content <= usableSize else { return nil }
        var cells: [Int] = []
        cells.reserveCapacity(count)
        for index in 0..<count {
            guard let cell = bytes.number16(at: pointers + 2 * index), cell >= content, cell <= usableSize - 4 else {
                return nil
            }
            cells.append(cell)
        }
        (self.kind, self.bytes, self.cells, self.usableSize) = (kind, bytes, cells, usableSize)
        rightmostChild = kind.isInterior ? bytes.number32(at: start + 8).map { Int($0) } : nil
        unallocated = pointersEnd..<content
        var (blocks, next): ([Range<Int>], Int) = ([], firstFree)
        // Blocks ascend, so that a circle ends the list.
        while next >= (blocks.last?.upperBound ?? content), let size = bytes.number16(at: next + 2), size >= 4,
            next + size <= usableSize, let following = bytes.number16(at: next)
        {
            blocks.append(next..<next + size)
            next = following
        }
        freeBlocks = blocks
    }

    /// The children of an interior page, in the order of their keys.
    package var children: [Int] {
        guard kind.isInterior else { return [] }
        return cells.compactMap { bytes.number32(at: $0).map { Int($0) } } + [rightmostChild].compactMap { $0 }
    }

    /// The child of an interior page of a table in which a key may be; nil for other pages.
    func child(for key: Int64) -> Int? {
        guard kind == .tableInterior else { return nil }
        for cell in cells {
            guard let limit = bytes.varint(at: cell + 4, before: usableSize) else { return nil }
            if key <= limit.value { return bytes.number32(at: cell).map { Int($0) } }
        }
        return rightmostChild
    }

    /// The cell of a row, or of an entry of an index.
    package func cell(_ index: Int) -> Cell? {
        guard cells.indices.contains(index) else { return nil }
        return Cell(bytes, at: cells[index], kind: kind, usableSize: usableSize)
    }
}

/// What a page has of a row: all of it, or the beginning and the number of a page with more.
package struct Cell: Equatable, Sendable {
    /// The row's number; 0 in an index.
    package let key: Int64
    /// How many bytes the payload has.
    package let payloadSize: Int
    /// Those that are on the page.
    package let local: Range<Int>
    /// The page with the following ones; nil for none.
    package let overflow: Int?
    /// Where the cell ends.
    package let end: Int

    /// SQLite's limit for a row.
    static let mostPayload: Int64 = 0x7FFF_FFFF

    /// Reads a cell; nil for one without payload, and for bytes that are not a cell.
    ///
    /// - Parameters:
    ///   - bytes: the page.
    ///   - start: where the cell begins.
    ///   - kind: the kind of page.
    ///   - usableSize: the bytes of a page that are used.
    ///   - end: where the bytes end that it may take; nil for the usable ones.
    init?(_ bytes: [UInt8], at start: Int, kind: BTreePage.Kind, usableSize: Int, before end: Int? = nil) {
        let limit = min(end ?? usableSize, usableSize, bytes.count)
        var place = start + (kind.isInterior ? 4 : 0)
        guard kind != .tableInterior, let payload = bytes.varint(at: place, before: limit), payload.value >= 1,
            payload.value <= Self.mostPayload
        else { return nil }
        place += payload.count
        var key: Int64 = 0
        if kind == .tableLeaf {
            guard let number = bytes.varint(at: place, before: limit) else { return nil }
            (key, place) = (number.value, place + number.count)
        }
        let size = Int(payload.value)
        let local = Self.localSize(of: size, usableSize: usableSize, isTable: kind == .tableLeaf)
        guard place + local + (local < size ? 4 : 0) <= limit else { return nil }
        (self.key, payloadSize, self.local) = (key, size, place..<place + local)
        overflow = local < size ? bytes.number32(at: place + local).map { Int($0) } : nil
        self.end = place + local + (local < size ? 4 : 0)
    }

    /// How many bytes of a payload are on the page.
    static func localSize(of size: Int, usableSize: Int, isTable: Bool) -> Int {
        let most = isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
        guard size > most else { return size }
        let least = (usableSize - 12) * 32 / 255 - 23
        let local = least + (size - least) % (usableSize - 4)
        return local <= most ? local : least
    }
}
