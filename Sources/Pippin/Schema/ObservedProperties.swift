/// A type that names its stored properties with `willSet` or `didSet`, whose key paths look like those of computed
/// ones, and an identifier that is computed.
///
/// Each ``CoreModel`` is one; ``CoreModel()`` writes the names.
public protocol ObservedProperties {
    /// The names, by key path; empty for a model without ``CoreModel()``.
    static var observedProperties: [AnyKeyPath: String] { get }
}
