/// The keys of a path; none for `self`, which every object gives itself by.
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
    /// The expression for the value under keys from the evaluated object on: itself for none.
    static func keys(_ keys: [String]) -> ExpressionTree {
        keys.isEmpty ? .evaluatedObject : .keyPath(keys)
    }
}
