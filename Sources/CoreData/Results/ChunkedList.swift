/// A list that can look up the position of an element, and inserts and removes without touching most other elements.
///
/// The elements are in chunks of a few hundred: a change touches one chunk, and finding a position adds up the sizes of
/// the chunks before it. All elements are different.
struct ChunkedList<Element: Hashable> {
    private struct Chunk {
        let number: Int
        var elements: ContiguousArray<Element>
    }

    private var chunks: [Chunk] = []
    private var chunkNumber: [Element: Int] = [:]
    private var lastNumber = 0
    private let limit: Int
    private(set) var count = 0

    /// - Parameters:
    ///   - elements: all different.
    ///   - limit: the size at which a chunk is split.
    init(_ elements: [Element] = [], limit: Int = 512) {
        self.limit = limit
        chunkNumber.reserveCapacity(elements.count)
        var rest = elements[...]
        while !rest.isEmpty {
            append(ContiguousArray(rest.prefix(max(1, limit / 2))))
            rest = rest.dropFirst(max(1, limit / 2))
        }
    }

    private mutating func append(_ elements: ContiguousArray<Element>) {
        lastNumber += 1
        for element in elements { chunkNumber[element] = lastNumber }
        chunks.append(Chunk(number: lastNumber, elements: elements))
        count += elements.count
    }

    func contains(_ element: Element) -> Bool { chunkNumber[element] != nil }

    /// The position of an element; `nil` if the list does not have it.
    func position(of element: Element) -> Int? {
        guard let number = chunkNumber[element] else { return nil }
        var start = 0
        for chunk in chunks {
            if chunk.number == number { return chunk.elements.firstIndex(of: element).map { start + $0 } }
            start += chunk.elements.count
        }
        return nil
    }

    /// The element at a position from 0 to `count - 1`.
    subscript(position: Int) -> Element {
        let (chunk, offset) = place(position)
        return chunks[chunk].elements[offset]
    }

    mutating func remove(_ element: Element) {
        guard let number = chunkNumber.removeValue(forKey: element),
            let chunk = chunks.firstIndex(where: { $0.number == number }),
            let offset = chunks[chunk].elements.firstIndex(of: element)
        else { return }
        chunks[chunk].elements.remove(at: offset)
        count -= 1
        if chunks[chunk].elements.isEmpty { chunks.remove(at: chunk) }
    }

    /// Inserts an element that the list does not have.
    mutating func insert(_ element: Element, at position: Int) {
        guard !chunks.isEmpty else { return append([element]) }
        let (chunk, offset) =
            position == count ? (chunks.count - 1, chunks[chunks.count - 1].elements.count) : place(position)
        chunks[chunk].elements.insert(element, at: offset)
        chunkNumber[element] = chunks[chunk].number
        count += 1
        if chunks[chunk].elements.count > limit { split(chunk) }
    }

    private mutating func split(_ index: Int) {
        let half = chunks[index].elements.count / 2
        lastNumber += 1
        let upper = ContiguousArray(chunks[index].elements[half...])
        chunks[index].elements.removeSubrange(half...)
        for element in upper { chunkNumber[element] = lastNumber }
        chunks.insert(Chunk(number: lastNumber, elements: upper), at: index + 1)
    }

    private func place(_ position: Int) -> (chunk: Int, offset: Int) {
        var rest = position
        for (index, chunk) in chunks.enumerated() {
            if rest < chunk.elements.count { return (index, rest) }
            rest -= chunk.elements.count
        }
        programmerError("position \(position) is beyond the \(count) elements of a list")
    }

    /// All elements, in order.
    var elements: [Element] { self[0..<count] }

    /// The elements at some positions, in order.
    subscript(range: Range<Int>) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(range.count)
        var start = 0
        for chunk in chunks {
            let end = start + chunk.elements.count
            if start >= range.upperBound { break }
            if end > range.lowerBound {
                result += chunk.elements[max(0, range.lowerBound - start)..<min(end, range.upperBound) - start]
            }
            start = end
        }
        return result
    }
}
