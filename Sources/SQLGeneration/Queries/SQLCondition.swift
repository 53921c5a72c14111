import CompactCollections
import CoreDataModel
import PredicateFormat

/// A condition in SQL.
struct SQLCondition {
    var fragment: SQLFragment
    /// Whether the condition can be NULL, which counts as false, and whose negation is true.
    var canBeNull = true
    /// Whether it must be put in parentheses within another condition.
    var isCompound = false

    init(_ fragment: SQLFragment, canBeNull: Bool = true, isCompound: Bool = false) {
        self.fragment = fragment
        self.canBeNull = canBeNull
        self.isCompound = isCompound
    }

    static let always = SQLCondition(SQLFragment(.truth(true)), canBeNull: false)
    static let never = SQLCondition(SQLFragment(.truth(false)), canBeNull: false)

    /// The condition as part of a larger one.
    var part: SQLFragment { isCompound ? fragment.inParentheses : fragment }
}

/// An expression in SQL, with known facts about its value.
struct SQLOperand {
    var fragment: SQLFragment
    /// The storage of the column that the value comes from.
    var storage: ColumnStorage?
    /// For an object's key: the root entity of its table.
    var root: EntityLayout?
    /// For the number of an object's entity: the numbers of all entities.
    var entities: [String: Int]?
    /// Whether the value can be NULL.
    var canBeNull = true
    /// The key path, if the value comes from a column.
    var name: String?
    /// Whether a text that it is compared with is bound as the number that it spells.
    var convertsTexts: Bool { name != nil && storage?.isNumber ?? false }
    /// Whether the value is a column's itself, by whose type SQLite converts what it is compared with.
    var isColumn = false
    /// For a property that several subentities declare: its columns, of which a row has a value in one.
    var columns: [SQLFragment] = []
    /// For a number: whether it is whole, if that is known.
    private(set) var isWhole: Bool?
    /// Whether SQLite keeps fractions among its values as reals, and divides them as memory does.
    var hasRealFractions = false
    /// The kind of a value that comes from no column.
    var constantKind: ValueKind?
    /// Whether it is a condition's value, which may be of several kinds.
    var isMixed = false

    init(
        fragment: SQLFragment, storage: ColumnStorage? = nil, root: EntityLayout? = nil, entities: [String: Int]? = nil,
        canBeNull: Bool = true, name: String? = nil, isColumn: Bool = false, isWhole: Bool? = nil
    ) {
        (self.fragment, self.storage, self.root, self.entities) = (fragment, storage, root, entities)
        (self.canBeNull, self.name, self.isColumn) = (canBeNull, name, isColumn)
        self.isWhole = isWhole ?? storage.flatMap(\.isWhole)
    }

    /// The operand, for which SQLite converts nothing that it is compared with.
    var withoutAffinity: SQLOperand {
        var operand = self
        if isColumn { operand.fragment = SQLFragment(.unindexed(fragment)) }
        return operand
    }

    /// What a constant on the other side is converted for: a part of a number's digits is a text and remains one.
    func asSide(of comparison: ComparisonOperator) -> SQLOperand {
        var side = self
        switch comparison {
        case .contains, .beginsWith, .endsWith, .like, .matches: if storage?.isNumber == true { side.storage = nil }
        default: break
        }
        return side
    }

    /// A condition on the value, which holds for no NULL. It is said of each column where there are several, so that the
    /// index of each can be used.
    func holding(_ condition: (SQLFragment) -> SQLFragment) -> SQLCondition {
        columns.isEmpty
            ? SQLCondition(condition(fragment))
            : SQLCondition(PredicateSQL.chain(columns.map { condition($0).inParentheses }, "OR"), isCompound: true)
    }

    /// The number as a real, which SQLite does not divide as an integer.
    var asReal: SQLFragment { (fragment + " * 1.0").inParentheses }

    /// Whether one side is a whole number, and the other one a fraction.
    func mixesNumbers(with other: SQLOperand) -> Bool {
        guard let isWhole, let isOthersWhole = other.isWhole else { return false }
        return isWhole != isOthersWhole
    }
}

extension ColumnStorage {
    /// Whether the column's numbers are whole; nil if it holds no numbers.
    fileprivate var isWhole: Bool? {
        switch self {
        case .integer, .boolean: true
        case .double, .float, .decimal: false
        case .date, .string, .url, .uuid, .data, .transformable, .toOne: nil
        }
    }
}

extension Value {
    /// Whether a number is whole; nil for anything else.
    var isWhole: Bool? {
        switch self {
        case .integer: true
        case .double, .decimal: false
        default: nil
        }
    }
}
