extension AttributeKind {
    /// The kind of the single values of a list: basic ones, and those that have such a raw value. Nil for elements of
    /// any other type, which are not tried: a list of them needs no value.
    init?(ofElements type: Any.Type) {
        // No attribute holds all numbers of these types.
        guard type != UInt.self, type != UInt64.self, let type = type as? any Decodable.Type,
            type is any BasicValue.Type || type is any RawRepresentable.Type || AttributeKind(of: type) != nil,
            case .attribute(let kind)? = Self.shape(of: type)
        else { return nil }
        self = kind
    }

    private static func shape<Element: Decodable>(of type: Element.Type) -> FieldKind? {
        try? TypeShape(of: type, isOptional: false, within: TypeProbe(Any.self)).kind
    }
}
