/// The order of names in what Xcode writes.
package enum EditorOrder {
    /// Compares without regard to case: `image` precedes `iPad`.
    ///
    /// - Returns: whether the first name comes first; of names that differ in case only, the one that is less.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        let (first, second) = (left.lowercased(), right.lowercased())
        return first == second ? left < right : first < second
    }
}
