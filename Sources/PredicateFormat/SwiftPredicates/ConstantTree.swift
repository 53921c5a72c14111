/// The tree for a value that a program compares with; of an enumeration its raw value.
package func constantTree(_ value: Any?) -> ExpressionTree {
    if let value = value as? any RawRepresentable { return .constant(Value(value.rawValue)) }
    return .constant(Value(value))
}

/// The tree for a collection of values that a program compares with.
func constantTree(collection: some Sequence) -> ExpressionTree {
    .collection(of: collection.map { constantTree($0) })
}
