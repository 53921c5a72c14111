/// The tree for a value of the program that is compared; for an enumeration, its raw value.
package func constantTree(_ value: Any?) -> ExpressionTree {
    if let value = value as? any RawRepresentable { return .constant(Value(value.rawValue)) }
    return .constant(Value(value))
}

/// The tree for a collection of values of the program that is compared.
func constantTree(collection: some Sequence) -> ExpressionTree {
    .collection(of: collection.map { constantTree($0) })
}
