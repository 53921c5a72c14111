/// The declaration of a model, as its source shows it.
package struct ModelDeclaration: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case structure, finalClass
        /// The keyword of a declaration that cannot be a model.
        case other(String)
    }

    package var kind: Kind
    package var name: String
    /// The stored properties, in order.
    package var properties: [Property] = []
    /// Whether a stored property is deprecated.
    package var hasDeprecatedProperties = false
    /// Why it is read and written by its own coding; nil where the compiler would synthesize that.
    package var reason: CodingReason?

    /// A stored property.
    package struct Property: Equatable, Sendable {
        package var name: String
        /// Its type as it is written; nil for one that the compiler finds out.
        package var type: String?
        /// Whether it has `willSet` or `didSet`, so that Swift shows its key path as a computed property's, and is
        /// neither lazy nor wrapped.
        package var isObserved = false
    }

    /// Why the columns of a model are left to `Codable`.
    package enum CodingReason: Equatable, Sendable {
        /// It declares `init(from:)`, `encode(to:)` or `CodingKeys`.
        case codedByHand(String)
        /// A property that is lazy, wrapped, a constant with a value, or one of several in a pattern.
        case property(String)
        /// Conditions of compilation are among its members.
        case condition
        case isClass
    }
}
