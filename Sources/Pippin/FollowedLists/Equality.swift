/// Whether two values are equal; values of a type that is not `Equatable` never are.
func areEqual<Value>(_ one: Value, _ other: Value) -> Bool {
    guard let one = one as? any Equatable else { return false }
    return equals(one, other)
}

private func equals<Value: Equatable>(_ one: Value, _ other: Any) -> Bool { (other as? Value) == one }
