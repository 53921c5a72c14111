import CoreDataModel

/// How what is written together is cut by its size. Pure.
package enum Portions {
    /// Cuts a sequence where its parts would exceed a limit. A single element may exceed it.
    ///
    /// - Parameters:
    ///   - count: how many elements there are.
    ///   - limit: how large a part may be.
    ///   - size: the size of an element.
    /// - Returns: the parts, in order, none of them empty.
    package static func cut(_ count: Int, limit: Int, size: (Int) -> Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, sum) = (0, 0)
        for index in 0..<count {
            let size = size(index)
            if index > start, sum + size > limit {
                parts.append(start..<index)
                (start, sum) = (index, 0)
            }
            sum += size
        }
        if start < count { parts.append(start..<count) }
        return parts
    }
}

extension StoredValue {
    /// How many bytes the value has if it is of a kind that may have many. An archive is not made to learn its length.
    var longSize: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        default: 12
        }
    }
}
