/// The tree for a value of the program that is compared; for an enumeration, its raw value, and for a list of
/// enumerations those.
package func constantTree(_ value: Any?) -> ExpressionTree {
    if let value = value as? any RawRepresentable { return .constant(Value(value.rawValue)) }
    if let list = value as? any Collection, let tree = rawValues(of: list) { return tree }
    return .constant(Value(value))
}

private func rawValues<Values: Collection>(of values: Values) -> ExpressionTree? {
    Values.Element.self is any RawRepresentable.Type ? constantTree(collection: values) : nil
}

/// The tree for a collection of values of the program that is compared.
func constantTree(collection: some Sequence) -> ExpressionTree {
    .collection(of: collection.map { constantTree($0) })
}
