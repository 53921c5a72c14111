import CoreDataModel

/// The numbers of a former attribute that its present type can hold. Pure.
package enum NumberLimits: Equatable, Sendable {
    /// Between two whole numbers; a fraction is cut off.
    case between(ClosedRange<Int64>)
    /// Floating-point numbers from one on, and below another. PostgreSQL rounds a whole number in 64 bits that it
    /// compares with them, the greatest one to the first number that does not fit.
    case below(Range<Double>)
    /// 0, and numbers that are not larger than a type's greatest one, or infinite.
    case atMost(Double)
    /// 0, and numbers of such a size.
    case sizes(ClosedRange<Double>)

    /// The first number that is rounded to infinity in 32 bits.
    private static let beyondFloat = 0x1.ffffffp127
    /// Decimals have 38 digits, and exponents from -128 to 127, of which a number of 20 digits needs some itself.
    private static let decimals = 1e-108...1e146

    /// The limits; nil if all former numbers fit.
    package init?(from source: AttributeLayout, to destination: AttributeLayout) {
        guard source.type != destination.type, source.type != .booleanAttributeType else { return nil }
        switch (source.type, destination.type) {
        case (_, .integer16AttributeType): self = .between(Int64(Int16.min)...Int64(Int16.max))
        case (.integer16AttributeType, _): return nil
        case (_, .integer32AttributeType): self = .between(Int64(Int32.min)...Int64(Int32.max))
        case (.integer32AttributeType, _), (.integer64AttributeType, _): return nil
        case (.doubleAttributeType, .integer64AttributeType), (.floatAttributeType, .integer64AttributeType):
            self = .below(-0x1p63..<0x1p63)
        case (_, .integer64AttributeType): self = .between(.min ... .max)
        case (.doubleAttributeType, .floatAttributeType), (.decimalAttributeType, .floatAttributeType):
            self = .atMost(Self.beyondFloat.nextDown)
        case (.doubleAttributeType, .decimalAttributeType), (.floatAttributeType, .decimalAttributeType):
            self = .sizes(Self.decimals)
        default: return nil
        }
    }

    /// The condition on a number that it is not within the limits, which no NULL fulfils.
    package func areExceeded(by number: SQLFragment) -> SQLFragment {
        switch self {
        case .between(let bounds) where bounds.lowerBound > .min && bounds.upperBound < .max:
            "NOT (\(number) > \(number: bounds.lowerBound - 1) AND \(number) < \(number: bounds.upperBound + 1))"
        case .between(let bounds):
            "\(number) NOT BETWEEN \(number: bounds.lowerBound) AND \(number: bounds.upperBound)"
        case .below(let bounds):
            "NOT (\(number) >= \(literal: .double(bounds.lowerBound)) AND \(number) < \(literal: .double(bounds.upperBound)))"
        case .atMost(let greatest):
            "abs(\(number)) > \(literal: .double(greatest)) AND abs(\(number)) <= \(literal: .double(.greatestFiniteMagnitude))"
        case .sizes(let sizes):
            "\(number) <> 0 AND abs(\(number)) NOT BETWEEN \(literal: .double(sizes.lowerBound)) AND \(literal: .double(sizes.upperBound))"
        }
    }
}

/// The statements that find rows which do not fit a new model: such a row stops the migration. Pure.
package enum CheckSQL {
    /// Rows with an unknown entity number: `SELECT Z_PK FROM ZCAR WHERE Z_ENT IS NULL OR NOT (Z_ENT IN (1, 2)) LIMIT
    /// 1`.
    package static func strangers(in table: String, among numbers: [Int]) -> SQLFragment {
        first(in: table, where: "\(.entity) IS NULL OR NOT (\(SQLFragment.isEntity(numbers)))")
    }

    /// Rows of an entity without a value: `SELECT Z_PK FROM ZCAR WHERE Z_ENT = 1 AND ZNAME IS NULL LIMIT 1`.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - mapping: the entity.
    ///   - present: groups of columns; a row counts only if each group has at least one value in it.
    /// - Returns: the statement.
    package static func missing(
        _ column: String, of mapping: EntityMapping, whereAnyOf present: [[String]] = []
    ) -> SQLFragment {
        let conditions = [own(mapping)] + present.map(ColumnConversion.isAnyPresent) + ["\(name: column) IS NULL"]
        return first(in: mapping.table, where: .joined(conditions, separator: " AND "))
    }

    /// Rows of an entity with a number beyond limits, and the number: `SELECT Z_PK, CAST(ZWHEELS AS TEXT) FROM ZCAR
    /// WHERE Z_ENT = 1 AND NOT (ZWHEELS > -32769 AND ZWHEELS < 32768) LIMIT 1`.
    package static func outside(_ limits: NumberLimits, _ column: String, of mapping: EntityMapping) -> SQLFragment {
        first(
            "\(.key), CAST(\(name: column) AS TEXT)", in: mapping.table,
            where: "\(own(mapping)) AND \(limits.areExceeded(by: "\(name: column)"))")
    }

    /// Rows of an entity itself: `SELECT Z_PK FROM ZCAR WHERE Z_ENT = 1 LIMIT 1`.
    package static func rows(of mapping: EntityMapping) -> SQLFragment {
        first(in: mapping.table, where: own(mapping))
    }

    /// Any row of a table that is not an entity's: `SELECT 1 FROM Z_1TAGS LIMIT 1`.
    package static func rows(of table: String) -> SQLFragment { "SELECT 1 FROM \(name: table) LIMIT 1" }

    private static func own(_ mapping: EntityMapping) -> SQLFragment { "\(.entity) = \(number: mapping.number)" }

    private static func first(
        _ columns: SQLFragment = "\(.key)", in table: String, where condition: SQLFragment
    ) -> SQLFragment {
        "SELECT \(columns) FROM \(name: table) WHERE \(condition) LIMIT 1"
    }
}

/// The SQL that computes a destination column from a source column. Pure.
package enum ColumnConversion {
    /// The value of an attribute that existed before.
    ///
    /// - Parameters:
    ///   - name: its column in the source.
    ///   - source: the attribute in the source.
    ///   - sourceStorage: how the source stores it.
    ///   - destination: the attribute in the destination.
    ///   - storage: how the destination stores it.
    ///   - fallback: the default value, for an attribute that became mandatory.
    /// - Returns: the value, in SQL.
    package static func value(
        _ name: String, from source: AttributeLayout, _ sourceStorage: ColumnStorage, to destination: AttributeLayout,
        _ storage: ColumnStorage, fallback: SQLFragment?
    ) -> MovedValue {
        let converted = converted("\(name: name)", source, sourceStorage, destination, storage)
        let value: MovedValue = converted.map { .computed($0) } ?? .column(name)
        return value.orElse(fallback)
    }

    /// The SQL of the conversion; nil for a value that stays as it is.
    private static func converted(
        _ column: SQLFragment, _ source: AttributeLayout, _ sourceStorage: ColumnStorage,
        _ destination: AttributeLayout, _ storage: ColumnStorage
    ) -> SQLFragment? {
        switch (sourceStorage, storage) {
        case (.data(let before), .data(let now)), (.transformable(let before), .transformable(let now)):
            if before == now { return nil }
            return .call(now ? .markedContent : .fileContent, column)
        case (_, .integer) where destination.type == .booleanAttributeType && source.type != .booleanAttributeType:
            return "(\(column) <> 0)"
        case (.integer, .integer): return nil
        case (_, .integer): return "CAST(\(column) AS INTEGER)"
        case (.double, .double), (.float, .float), (.double, .float), (.float, .double): return nil
        case (_, .double), (_, .float): return "CAST(\(column) AS REAL)"
        default: return nil
        }
    }

    /// A value if a condition holds, and NULL otherwise: `CASE WHEN Z2_OWNER IN (2, 3) THEN ZOWNER END`.
    package static func value(_ value: SQLFragment, where condition: SQLFragment) -> SQLFragment {
        "CASE WHEN \(condition) THEN \(value) END"
    }

    /// A value if a column is not NULL: `CASE WHEN ZOWNER IS NOT NULL THEN 3 END`.
    package static func value(_ value: SQLFragment, wherePresent column: String) -> SQLFragment {
        self.value(value, where: "\(name: column) IS NOT NULL")
    }

    /// Whether any of some columns has a value: `(ZSTREET IS NOT NULL OR ZTOWN IS NOT NULL)`; `FALSE` for none.
    package static func isAnyPresent(_ columns: [String]) -> SQLFragment {
        if columns.isEmpty { return "FALSE" }
        return SQLFragment.joined(columns.map { "\(name: $0) IS NOT NULL" }, separator: " OR ").inParentheses
    }
}
