/// Finds rows in space that is not used, by the shapes of tables.
///
/// What SQLite leaves of a row that is deleted (https://www.sqlite.org/fileformat2.html#b_tree_pages): all but its
/// first four bytes, which have the place of the next free block and the block's size; all of it where its page became
/// free, or where it was copied to another page. For a short row these four bytes are the sizes of the payload and of
/// the record's header, the row's number, and the type of the first column, which is null where that column stands for
/// the number. Pure.
struct Carver {
    /// A row that was found.
    struct Find {
        /// The table, by its index.
        let table: Int
        /// Nil where the bytes that had it are overwritten.
        let key: Int64?
        let record: Record
        let offset: Int
        /// Where what is known to be the row's ends on this page.
        let end: Int
        /// From 0 to 1.
        let confidence: Double
    }

    let shapes: [TableShape]
    let encoding: DatabaseHeader.Encoding
    let usableSize: Int
    /// How many columns the tables have whose first one stands for the number.
    private let columnCounts: [Int]

    init(shapes: [TableShape], encoding: DatabaseHeader.Encoding, usableSize: Int) {
        (self.shapes, self.encoding, self.usableSize) = (shapes, encoding, usableSize)
        columnCounts = Set(shapes.filter { $0.columns.first?.isKey == true }.map(\.columns.count)).sorted()
    }

    /// Finds rows that do not overlap, from the beginning of a region on.
    ///
    /// - Parameters:
    ///   - region: the bytes of the page to look at.
    ///   - bytes: the page.
    ///   - owner: the table that the page belongs to; nil if it is not known.
    ///   - isFreeBlock: whether the region begins with the four bytes of a free block.
    ///   - payload: follows a row to other pages.
    ///   - body: takes what is found.
    /// - Throws: the errors of `body`.
    func carve(
        _ region: Range<Int>, of bytes: [UInt8], owner: Int?, isFreeBlock: Bool, payload: (Cell) -> [UInt8],
        _ body: (Find) throws -> Void
    ) rethrows {
        let end = min(region.upperBound, bytes.count, usableSize)
        var place = max(0, region.lowerBound)
        while place < end - 4 {
            // Most of what is unused is zero.
            if bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 0, bytes[place + 3] == 0,
                bytes[place + 4] == 0
            {
                place += 1
                continue
            }
            let isStart = isFreeBlock && place == region.lowerBound
            if let find = whole(bytes, place, end, owner, payload) ?? rest(bytes, place, end, owner, isStart) {
                try body(find)
                place = find.end
            } else {
                place += 1
            }
        }
    }

    /// The table that a record is of: the owner of its page if that fits, otherwise the only one that fits best.
    ///
    /// - Returns: the table and how sure it is; nil for none.
    func table(_ types: [SerialType], _ record: Record, owner: Int?) -> (index: Int, confidence: Double)? {
        func fits(_ index: Int) -> Bool { shapes[index].takes(types) && shapes[index].takes(record, encoding) }
        if let owner, shapes.indices.contains(owner), fits(owner) { return (owner, 1) }
        let fitting = shapes.indices.filter(fits)
        // The more columns a record fills, the better.
        guard let best = fitting.max(by: { rank($0, types.count) < rank($1, types.count) }) else { return nil }
        let rivals = fitting.filter { $0 != best && rank($0, types.count) == rank(best, types.count) }
        return (best, rivals.isEmpty ? 0.9 : 0.5)
    }

    private func rank(_ index: Int, _ count: Int) -> Double {
        shapes[index].strength - Double(shapes[index].columns.count - count)
    }

    /// A row that is there from its first byte on.
    private func whole(
        _ bytes: [UInt8], _ place: Int, _ end: Int, _ owner: Int?, _ payload: (Cell) -> [UInt8]
    ) -> Find? {
        guard let cell = Cell(bytes, at: place, kind: .tableLeaf, usableSize: usableSize, before: end), cell.key > 0,
            let header = Record.header(bytes, at: cell.local.lowerBound, before: cell.local.upperBound),
            header.types.count >= 2,
            header.types.reduce(header.size, { $0 &+ $1.size }) == cell.payloadSize
        else { return nil }
        let isLong = cell.overflow != nil
        let content = isLong ? payload(cell) : Array(bytes[cell.local])
        let record = Record(header.types, content: content, at: header.size)
        guard isPlausible(record), let (table, certainty) = table(header.types, record, owner: owner) else {
            return nil
        }
        // Other pages may have been used for something else since.
        return Find(
            table: table, key: cell.key, record: record, offset: place, end: cell.end,
            confidence: 0.95 * certainty * shapes[table].strength * (isLong ? 0.7 : 1) * (record.isComplete ? 1 : 0.6))
    }

    /// Whether texts have no characters that texts do not have, such as those of another row's header that was written
    /// over a part of them.
    private func isPlausible(_ record: Record) -> Bool {
        record.values.allSatisfy { value in
            guard case .text(let bytes)? = value, encoding == .utf8 else { return true }
            return bytes.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        }
    }

    /// A row whose first four bytes were overwritten.
    private func rest(_ bytes: [UInt8], _ place: Int, _ end: Int, _ owner: Int?, _ isStart: Bool) -> Find? {
        guard let blockSize = bytes.number16(at: place + 2), blockSize >= 8, place + blockSize <= usableSize,
            !isStart || place + blockSize <= end
        else { return nil }
        var best: Find?
        // The sizes of payload and number together take two bytes or more, and the header's size one.
        for prefix in 2...9 {
            let candidates = prefix >= 4 ? known(bytes, place, prefix, end) : unknown(bytes, place, prefix, end)
            for (types, start) in candidates {
                let size = types.reduce(start - place, { $0 &+ $1.size })
                guard size >= 4, place + size <= end, size <= blockSize, start <= end else { continue }
                let isExact = size == blockSize
                let record = Record(types, content: Array(bytes[..<(place + size)]), at: start)
                // The types of a row, read from a wrong place on, look like those of a row with fewer values.
                guard isPlausible(record), let (table, certainty) = table(types, record, owner: owner),
                    shapes[table].columns[0].isKey,
                    types.count == shapes[table].columns.count,
                    isExact || shapes[table].strength == 1,
                    hasPlausiblePrefix(prefix, payload: size - prefix)
                else { continue }
                let confidence = (isExact ? 0.85 : 0.6) * certainty * shapes[table].strength
                if confidence > best?.confidence ?? 0 {
                    best = Find(
                        table: table, key: nil, record: record, offset: place, end: place + size,
                        confidence: confidence)
                }
            }
        }
        return best
    }

    /// Whether the payload's size and a number can take that many bytes.
    private func hasPlausiblePrefix(_ prefix: Int, payload: Int) -> Bool {
        let size = payload < 1 << 7 ? 1 : payload < 1 << 14 ? 2 : 3
        return (1...9).contains(prefix - size)
    }

    /// The types of a record whose header's size is there, and where its values begin.
    private func known(_ bytes: [UInt8], _ place: Int, _ prefix: Int, _ end: Int) -> [([SerialType], Int)] {
        guard let header = Record.header(bytes, at: place + prefix, before: end), header.types.count >= 2 else {
            return []
        }
        return [(header.types, place + prefix + header.size)]
    }

    /// The types of records of each number of columns whose header's size was overwritten, and perhaps the first type,
    /// that of the number.
    private func unknown(_ bytes: [UInt8], _ place: Int, _ prefix: Int, _ end: Int) -> [([SerialType], Int)] {
        var results: [([SerialType], Int)] = []
        for count in columnCounts {
            let sizeLength = count < 120 ? 1 : 2
            let lost = max(0, 4 - prefix - sizeLength)
            var types = [SerialType](repeating: .null, count: lost)
            var next = place + prefix + sizeLength + lost
            while types.count < count, let code = bytes.varint(at: next, before: end), let type = SerialType(code.value)
            {
                types.append(type)
                next += code.count
            }
            if types.count == count { results.append((types, next)) }
        }
        return results
    }
}
