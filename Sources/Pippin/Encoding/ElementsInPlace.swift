// In code that is not compiled for one type, each look at an element of an array copies it, which counts all its references. What is
// passed as `inout` is not copied.
extension Array {
    /// Hands out the elements where they are, with their places. `body` must not change them.
    func forEachInPlace(_ body: (_ place: Int, _ element: inout Element) throws -> Void) rethrows {
        try forEachInPlace(indices, body)
    }

    /// Hands out some elements where they are, with their places in the list of indexes. `body` must not change them.
    func forEachInPlace(
        _ indexes: some Sequence<Int>, _ body: (_ place: Int, _ element: inout Element) throws -> Void
    ) rethrows {
        try withUnsafeBufferPointer { elements in
            guard let start = elements.baseAddress else { return }
            // Unsafe memory: nobody writes through the pointer, and each index was checked.
            let elements = UnsafeMutableBufferPointer(
                start: UnsafeMutablePointer(mutating: start), count: elements.count)
            for (place, index) in indexes.enumerated() {
                precondition(elements.indices.contains(index), "An index of the array")
                try body(place, &elements[index])
            }
        }
    }
}
