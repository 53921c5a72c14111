import CoreData

/// The order in which models are fetched. Enumerations are in the order of their raw values.
///
/// ```swift
/// manager.fetch(Person.self, sortedBy: .ascending(\.name))
/// manager.fetch(Person.self, sortedBy: [.descending(\.age), .ascending(\.name)])
/// ```
public struct Order<Model>: Sendable, ExpressibleByArrayLiteral {
    struct Term: Sendable {
        let property: PropertyName
        let ascending: Bool
    }

    let terms: [Term]

    /// Several orders. Each one sorts what the earlier ones leave equal.
    ///
    /// - Parameter elements: the orders, the most significant first.
    public init(arrayLiteral elements: Order...) {
        // A closure: the key path of a generic type is made anew at each use.
        terms = elements.isEmpty ? [] : elements.flatMap { $0.terms }
    }

    private init(_ property: AnyKeyPath, ascending: Bool) {
        terms = [Term(property: PropertyName(property), ascending: ascending)]
    }

    /// Sorts in ascending order; models without a value come first.
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the order.
    /// - SQL: `ORDER BY <property>`
    public static func ascending<Value>(_ property: KeyPath<Model, Value>) -> Order { Order(property, ascending: true) }

    /// Sorts in descending order; models without a value come last.
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the order.
    /// - SQL: `ORDER BY <property> DESC`
    public static func descending<Value>(_ property: KeyPath<Model, Value>) -> Order {
        Order(property, ascending: false)
    }

    func sortDescriptors(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> [NSSortDescriptor] {
        try terms.map {
            let (path, _) = try registry.singleValue(
                $0.property, of: plan,
                "Models are sorted by single values: numbers, texts, dates, UUIDs, URLs, data, enumerations with raw values, and references; "
                    + "by a model with its properties, such as its name.")
            return NSSortDescriptor(key: path, ascending: $0.ascending)
        }
    }
}
