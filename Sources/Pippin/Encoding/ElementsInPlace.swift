// In code that is not specialized for one type, each access to an array's element copies it, which retains everything
// in it. An element passed as `inout` is not copied.
extension Array {
    /// Hands out the elements where they are, with their places. `body` must not change them.
    @inline(__always)
    func forEachInPlace(_ body: (_ place: Int, _ element: inout Element) throws -> Void) rethrows {
        try forEachInPlace(count, { $0 }, body)
    }

    /// Hands out some elements where they are. `body` must not change them.
    ///
    /// - Parameters:
    ///   - times: how many.
    ///   - index: the index of the first of them, of the second, and so on.
    ///   - body: receives the number of an element among them.
    @inline(__always)
    func forEachInPlace(
        _ times: Int, _ index: (_ number: Int) -> Int, _ body: (_ number: Int, _ element: inout Element) throws -> Void
    ) rethrows {
        let count = count
        try withUnsafeBufferPointer { elements in
            guard let first = elements.baseAddress else { return }
            // Unsafe memory: the pointer is only read, and each index is checked.
            let start = UnsafeMutablePointer(mutating: first)
            var number = 0
            while number < times {
                let index = index(number)
                precondition(index >= 0 && index < count, "An index of the array")
                try body(number, &start[index])
                number += 1
            }
        }
    }
}
