extension Array {
    /// The elements in order, in slices of up to `size`.
    package func portions(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
