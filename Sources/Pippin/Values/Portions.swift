extension Array {
    /// The elements in order, in slices of up to `size`. By default a slice has as many identifiers as one statement
    /// asks for.
    package func portions(of size: Int = Portion.identifiers) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}

package enum Portion {
    /// The largest number of identifiers that one statement asks for.
    package static let identifiers = 500
}
