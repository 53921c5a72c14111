/// Two values of a type with an order of its own are compared by it, which what is stored for them does not tell.
package struct EnumerationOrderError: Error {
    /// One of the values, in the predicate language.
    package let value: String
    package let type: String
}

extension PredicateConversion {
    /// - Throws: ``EnumerationOrderError`` for two values whose order their type knows, of which neither is constant.
    func checkOrder(of type: Any.Type, _ left: ExpressionTree, _ right: ExpressionTree) throws {
        guard !ordersRawValues, !left.isConstant, !right.isConstant, hasOwnOrder(type) else { return }
        throw EnumerationOrderError(value: left.format, type: "\(type)")
    }
}

/// Whether a comparable type is an enumeration or lists its cases. Their stored values may have another order. That of
/// another structure with a raw value is taken for the raw values' order.
///
/// Unsafe memory: the first word of a type's metadata is its kind in Swift's stable ABI, and that of an enumeration is
/// 0x201 (`MetadataKind::Enum`). No mirror can tell, since there is no value.
private func hasOwnOrder(_ type: Any.Type) -> Bool {
    type is any CaseIterable.Type || unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee == 0x201
}
