import PredicateFormat
import StoreSession

/// SQL that is written as a string literal, with values, models and their properties in it.
///
/// ```swift
/// let sql: SQLText = """
///     SELECT \(\Order.customer) AS customer, sum(\(\Order.total)) AS total
///     FROM \(Order.self) WHERE \(\Order.placed) >= \(start) GROUP BY 1
///     """
/// ```
///
/// A value is bound, in the store's form. A property becomes the name of its column, a model's type that of its table.
/// Only literals of the program become SQL: no text that is made while the program runs can be part of a statement.
public struct SQLText: ExpressibleByStringInterpolation, Sendable {
    /// Literals are known when the program is compiled.
    public typealias StringLiteralType = StaticString

    enum Part: Sendable {
        case text(String)
        case value(Result<Value, any Error>)
        case boolean(Bool)
        case table(any CoreModel.Type)
        case key(any CoreModel.Type)
        case property(any CoreModel.Type, PropertyName, isDate: Bool)
    }

    let parts: [Part]

    /// SQL without values.
    ///
    /// - Parameter literal: the text.
    public init(stringLiteral literal: StaticString) { parts = [.text(literal.description)] }

    /// SQL with values, models and properties.
    ///
    /// - Parameter interpolation: the pieces.
    public init(stringInterpolation interpolation: StringInterpolation) { parts = interpolation.parts }

    /// The pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        /// Literals are known when the program is compiled.
        public typealias StringLiteralType = StaticString

        var parts: [Part] = []

        /// No pieces yet.
        ///
        /// - Parameters:
        ///   - literalCapacity: how long the literal parts are.
        ///   - interpolationCount: how many other parts there are.
        public init(literalCapacity: Int, interpolationCount: Int) { parts.reserveCapacity(2 * interpolationCount + 1) }

        /// SQL.
        ///
        /// - Parameter literal: the text.
        public mutating func appendLiteral(_ literal: StaticString) { parts.append(.text(literal.description)) }

        /// The name of a model's table.
        ///
        /// - Parameter model: the model's type.
        public mutating func appendInterpolation<Model: CoreModel>(_ model: Model.Type) { parts.append(.table(model)) }

        /// The name of a property's column. In a statement with several tables, the table's name may precede it:
        /// `\(Book.self).\(\Book.title)`. The column of a reference, or of another model, holds that model's key.
        ///
        /// - Parameter property: a property of the model itself, or of a struct nested in it.
        public mutating func appendInterpolation<Model: CoreModel, Value>(_ property: KeyPath<Model, Value>) {
            parts.append(.property(Model.self, PropertyName(property), isDate: false))
        }

        /// A date's column in the form that the database's own functions take: in SQLite, where dates are numbers of
        /// seconds since 2001, as text in UTC, such as `2026-11-29 18:30:00.000`; in PostgreSQL the column.
        ///
        /// - Parameter property: a date.
        public mutating func appendInterpolation<Model: CoreModel>(date property: KeyPath<Model, Date>) {
            parts.append(.property(Model.self, PropertyName(property), isDate: true))
        }

        /// The same for a date that may be missing.
        ///
        /// - Parameter property: a date.
        public mutating func appendInterpolation<Model: CoreModel>(date property: KeyPath<Model, Date?>) {
            parts.append(.property(Model.self, PropertyName(property), isDate: true))
        }

        /// The name of the column with the key of a model's rows, which the columns of references to it hold.
        ///
        /// - Parameter model: the model's type.
        public mutating func appendInterpolation<Model: CoreModel>(key model: Model.Type) { parts.append(.key(model)) }

        /// A value, which is bound: a number, text, date, UUID, URL, data, an enumeration with a raw value; nil is
        /// NULL.
        ///
        /// - Parameter value: the value.
        public mutating func appendInterpolation<Bound: Encodable & Sendable>(_ value: Bound) {
            parts.append(Self.part(value))
        }

        /// Several values, separated by commas: `IN (\(list: names))`. An empty list is NULL, which nothing equals.
        ///
        /// - Parameter values: the values.
        public mutating func appendInterpolation<Bound: Encodable & Sendable>(list values: [Bound]) {
            guard !values.isEmpty else { return parts.append(.text("NULL")) }
            for (index, value) in values.enumerated() {
                if index > 0 { parts.append(.text(", ")) }
                parts.append(Self.part(value))
            }
        }

        /// Another piece of SQL.
        ///
        /// - Parameter sql: the piece.
        public mutating func appendInterpolation(_ sql: SQLText) { parts += sql.parts }

        private static func part<Bound: Encodable & Sendable>(_ value: Bound) -> Part {
            if let value = value as? Bool { return .boolean(value) }
            return .value(Result { try bound(value) })
        }

        private static func bound<Bound: Encodable>(_ value: Bound) throws -> Value {
            let capture = ValueCapture()
            let stored: StoredValue?
            do {
                stored =
                    try AttributeEncoder.leaf(value)
                    ?? {
                        try value.encode(to: capture)
                        return capture.value
                    }()
            } catch {
                throw PersistenceError(
                    .readFailed, underlying: error,
                    "A value in SQL is a single one: a number, text, date, UUID, URL, data, or an enumeration with a raw "
                        + "value. \(Bound.self) is not.")
            }
            switch stored {
            case .null, nil: return .null
            case .integer(let number): return .integer(number)
            case .double(let number): return .double(number)
            case .string(let text): return .string(text)
            case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
            case .data(let data): return .data(data)
            case .uuid(let uuid): return .uuid(uuid)
            case .object(let number as NSDecimalNumber): return .decimal(number)
            case .object(let url as NSURL): return .url(url as URL)
            case .identifier, .object: return .null
            }
        }
    }
}

extension SQLText {
    /// The statement for a store.
    ///
    /// - Parameter access: the block that runs it, which notes the models that it reads.
    /// - Returns: the statement.
    /// - Throws: ``PersistenceError`` for a model that the manager does not have, and a property without a column.
    func written(_ access: ModelAccess) throws -> WrittenSQL {
        let rows = access.manager.storeRows
        func plan<Model: CoreModel>(_ type: Model.Type) throws -> EntityPlan { try access.plan(of: type) }
        return WrittenSQL(
            try parts.map { part in
                switch part {
                case .text(let text): return .text(text)
                case .value(let value): return .value(try value.get())
                case .boolean(let value): return .boolean(value)
                case .table(let type): return .table(try rows.layout(of: plan(type)))
                case .key(let type): return .key(try rows.layout(of: plan(type)))
                case .property(let type, let property, let isDate):
                    let plan = try plan(type)
                    let found = try access.manager.registry.resolve(property, of: plan)
                    let isElsewhere = try access.manager.registry.relationships(of: found.path, in: plan).map {
                        $0 != found.path
                    }
                    if isElsewhere == true {
                        throw PersistenceError(
                            .unknownProperty, entity: plan.name, property: found.path,
                            "\(property.spelling) is a property of another model. Join its table, by the column of the "
                                + "reference and \\(key: …), and name the property there.")
                    }
                    let layout = try rows.layout(of: plan)
                    return isDate ? .date(layout, found.names) : .column(layout, found.names)
                }
            })
    }
}
