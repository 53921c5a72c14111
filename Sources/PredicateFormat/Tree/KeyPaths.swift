/// The keys of a path; empty for `self`, by which every object returns itself.
func keys(ofPath path: String?) -> [String] {
    (path ?? "").split(separator: ".").map(String.init).withoutSelf
}

extension [String] {
    /// The keys without a `self` before them.
    var withoutSelf: [String] {
        first?.uppercased() == "SELF" ? Array(dropFirst()) : self
    }
}

extension ExpressionTree {
    /// The expression for the value under keys starting at the evaluated object; without keys, the object itself.
    static func keys(_ keys: [String]) -> ExpressionTree {
        keys.isEmpty ? .evaluatedObject : .keyPath(keys)
    }
}
