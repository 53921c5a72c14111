import StoreSession

/// The order in which models are fetched. Enumerations are in the order of their raw values, texts in that of their
/// code points, unless a ``TextOrder`` is given.
///
/// ```swift
/// manager.fetch(Person.self, sortedBy: .ascending(\.name))
/// manager.fetch(Person.self, sortedBy: [.descending(\.age), .ascending(\.name, .localizedStandard)])
/// ```
public struct Order<Model>: Sendable, ExpressibleByArrayLiteral {
    struct Term: Sendable {
        let property: PropertyName
        let ascending: Bool
        var texts = TextOrder.lexical
    }

    let terms: [Term]

    /// Several orders. Each one sorts what the earlier ones leave equal.
    ///
    /// - Parameter elements: the orders, the most significant first.
    public init(arrayLiteral elements: Order...) { self.init(elements) }

    /// Several orders that are known at run time only, such as those of the columns that somebody has chosen.
    ///
    /// - Parameter orders: the orders, the most significant first. Each one sorts what the earlier ones leave equal.
    public init(_ orders: [Order]) {
        // A closure: the key path of a generic type is made anew at each use.
        terms = orders.isEmpty ? [] : orders.flatMap { $0.terms }
    }

    private init(_ property: AnyKeyPath, ascending: Bool, _ texts: TextOrder = .lexical) {
        terms = [Term(property: PropertyName(property), ascending: ascending, texts: texts)]
    }

    /// Sorts in ascending order, texts by their code points; models without a value come first.
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the order.
    /// - SQL: `ORDER BY <property>`
    public static func ascending<Value>(_ property: KeyPath<Model, Value>) -> Order { Order(property, ascending: true) }

    /// Sorts in descending order, texts by their code points; models without a value come last.
    ///
    /// - Parameter property: the property, of the model or of one that it leads to.
    /// - Returns: the order.
    /// - SQL: `ORDER BY <property> DESC`
    public static func descending<Value>(_ property: KeyPath<Model, Value>) -> Order {
        Order(property, ascending: false)
    }

    /// Sorts texts in ascending order; models without a text come first.
    ///
    /// Pages (`after:`) need an order that is `lexical`.
    ///
    /// - Parameters:
    ///   - property: a property with text, of the model or of one that it leads to.
    ///   - texts: how texts are compared.
    /// - Returns: the order.
    /// - SQL: `ORDER BY <property> COLLATE …`; a server's rows are sorted by the program.
    public static func ascending(_ property: KeyPath<Model, some StringProperty>, _ texts: TextOrder) -> Order {
        Order(property, ascending: true, texts)
    }

    /// Sorts texts in descending order; models without a text come last.
    ///
    /// Pages (`after:`) need an order that is `lexical`.
    ///
    /// - Parameters:
    ///   - property: a property with text, of the model or of one that it leads to.
    ///   - texts: how texts are compared.
    /// - Returns: the order.
    /// - SQL: `ORDER BY <property> COLLATE … DESC`; a server's rows are sorted by the program.
    public static func descending(_ property: KeyPath<Model, some StringProperty>, _ texts: TextOrder) -> Order {
        Order(property, ascending: false, texts)
    }

    func sortDescriptors(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> [NSSortDescriptor] {
        try terms.map {
            let (path, _) = try registry.singleValue(
                $0.property, of: plan,
                "Models are sorted by single values: numbers, texts, dates, UUIDs, URLs, data, enumerations with raw values, and references; "
                    + "by a model with its properties, such as its name.")
            return $0.texts.sortDescriptor(path, ascending: $0.ascending)
        }
    }
}
