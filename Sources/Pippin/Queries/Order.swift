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

/// How an ``Order`` compares texts.
public enum TextOrder: Sendable, Hashable {
    /// By their code points, capitals before small letters: “Zoe”, “anna”, “Émile”. This is what an order does by
    /// default; it is the same everywhere, and may use an index.
    case lexical
    /// Like `lexical`, without regard to case: “anna”, “Zoe”, “Émile”.
    case caseInsensitive
    /// By the rules of the program's locale: “anna”, “Émile”, “Zoe”.
    case localized
    /// By the rules of the program's locale, without regard to case.
    case localizedCaseInsensitive
    /// As a file browser sorts, by the rules of the program's locale, and numbers by value: “Part 2”, “Part 10”.
    case localizedStandard

    /// Core Data's name for the comparison; nil for that of all values.
    private var method: String? {
        switch self {
        case .lexical: nil
        case .caseInsensitive: "caseInsensitiveCompare:"
        case .localized: "localizedCompare:"
        case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
        case .localizedStandard: "localizedStandardCompare:"
        }
    }

    func sortDescriptor(_ path: String, ascending: Bool) -> NSSortDescriptor {
        guard let method else { return NSSortDescriptor(key: path, ascending: ascending) }
        return NSSortDescriptor(key: path, ascending: ascending, selector: NSSelectorFromString(method))
    }
}

extension NSSortDescriptor {
    /// Whether values are compared as they are, texts by their code points.
    var isLexical: Bool { selector.map { NSStringFromSelector($0) == "compare:" } ?? false }
}

/// A fetch that is built step by step.
///
/// ```swift
/// var request = ModelRequest(Person.self).filter(\.age > 30)
/// if let text { request = request.filter(.contains(\.name, text)) }
/// let people = try await manager.fetch(request.sorted(by: .ascending(\.name)).limit(20))
/// ```
public struct ModelRequest<Model: CoreModel>: Sendable {
    var filter: Filter<Model> = .all
    var order: Order<Model> = []
    /// The model after which to begin.
    var last: Model?
    /// The place after which to begin, as a text.
    var cursor: String?
    var limit: Int?
    var offset = 0

    /// A request for all models of a type.
    ///
    /// - Parameter type: the models' type.
    public init(_ type: Model.Type = Model.self) {}

    /// The request with an additional condition.
    ///
    /// - Parameter filter: the additional condition.
    /// - Returns: the narrower request.
    public func filter(_ filter: Filter<Model>) -> ModelRequest {
        var request = self
        if case .all = self.filter.term { request.filter = filter } else { request.filter = self.filter && filter }
        return request
    }

    /// The request with a Swift predicate as an additional condition.
    ///
    /// - Parameter predicate: the additional condition.
    /// - Returns: the narrower request.
    public func filter(_ predicate: Predicate<Model>) -> ModelRequest { filter(.matching(predicate)) }

    /// The request with an additional order. It sorts models that the earlier orders leave equal.
    ///
    /// - Parameter order: the order.
    /// - Returns: the request in that order.
    public func sorted(by order: Order<Model>) -> ModelRequest {
        var request = self
        request.order = [self.order, order]
        return request
    }

    /// The request with a limit.
    ///
    /// - Parameter limit: the largest number of models to fetch; nil for no limit.
    /// - Returns: the request with that limit.
    public func limit(_ limit: Int?) -> ModelRequest {
        var request = self
        request.limit = limit
        return request
    }

    /// The request with an offset.
    ///
    /// - Parameter offset: how many models to skip at the start.
    /// - Returns: the request with that offset.
    public func offset(_ offset: Int) -> ModelRequest {
        var request = self
        request.offset = offset
        return request
    }

    /// The request for the models after a given one.
    ///
    /// - Parameter last: the last model of the previous page, even if it has moved or is gone; `nil` to begin at the
    ///   beginning. The order must be one of plain properties of the model, or of structs nested in it.
    /// - Returns: the request for the next page.
    public func after(_ last: Model?) -> ModelRequest {
        var request = self
        request.last = last
        return request
    }

    /// The request for the models after a place that an earlier answer named.
    ///
    /// ```swift
    /// let page = try await manager.fetch(request.after(cursor: query["after"]).limit(50))
    /// let next = try page.last.map { try request.cursor(after: $0, in: manager) }
    /// ```
    ///
    /// - Parameter cursor: what ``cursor(after:in:)`` returned for a request of the same order;
    ///   `nil` to begin at the beginning.
    /// - Returns: the request for the next page. Fetching it throws ``PersistenceError/Code/unknownCursor`` for a text
    ///   that is not one.
    public func after(cursor: String?) -> ModelRequest {
        var request = self
        request.cursor = cursor
        return request
    }
}

extension ModelRequest {
    /// The place of a model in the request's order, as a text for whoever asks for the next page: letters, digits,
    /// hyphens and underscores. It has the model's values of the order's properties, and its identifier.
    ///
    /// - Parameters:
    ///   - model: the last model of a page.
    ///   - manager: the manager that fetched it.
    /// - Returns: the text, for ``after(cursor:)``.
    /// - Throws: ``PersistenceError`` with `unknownProperty` or `notComparable` for an order in which no page can begin
    ///   after a model.
    public func cursor(after model: Model, in manager: PersistenceManager) throws -> String {
        let plan = try manager.registry.plan(of: Model.self)
        let page = try Page(order, plan, manager.registry)
        return try page.cursor(at: page.place(of: RecordEncoder(plan.record).encode(model).values))
    }
}
