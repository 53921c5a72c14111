extension SchemaRule {
    /// Declares two properties to be the two sides of one relationship, so that changing one changes the other.
    ///
    /// One of the two models declares it. The other side should be a ``Reference``, or an array or a set of references,
    /// since structs cannot contain each other endlessly.
    ///
    /// ```swift
    /// Schema(.inverse(\.reviews, of: \Review.book))
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: a property of this model.
    ///   - other: the property of the other model that leads back.
    /// - Returns: the rule, for the model's schema.
    public static func inverse<Value, Other: CoreModel, Back>(
        _ keyPath: KeyPath<Model, Value>, of other: KeyPath<Other, Back>
    ) -> Self {
        Self(fact: .inverse(PropertyName(keyPath), of: PropertyName(other), in: ObjectIdentifier(Other.self)))
    }
}
