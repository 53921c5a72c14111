import CoreDataModel
import PredicateFormat

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
    /// Whether a text on the other side is bound as the number that it spells.
    var convertsTexts: Bool { name != nil && storage?.isNumber ?? false }
    /// Whether the fragment is a plain column. SQLite then converts the other side to the column's type.
    var isColumn = false
    /// The columns of a property that several subentities declare; each row has a value in at most one.
    var columns: [SQLFragment] = []
    /// For a number: whether it is whole, if that is known.
    private(set) var isWhole: Bool?
    /// Whether SQLite keeps fractions among its values as reals, and divides them as memory does.
    var hasRealFractions = false
    /// The kind of a value that comes from no column.
    var constantKind: ValueKind?
    /// Whether it is a conditional expression, whose values may have several kinds.
    var isMixed = false

    init(
        fragment: SQLFragment, storage: ColumnStorage? = nil, root: EntityLayout? = nil, entities: [String: Int]? = nil,
        canBeNull: Bool = true, name: String? = nil, isColumn: Bool = false, isWhole: Bool? = nil
    ) {
        (self.fragment, self.storage, self.root, self.entities) = (fragment, storage, root, entities)
        (self.canBeNull, self.name, self.isColumn) = (canBeNull, name, isColumn)
        self.isWhole = isWhole ?? storage.flatMap(\.isWhole)
    }

    /// The operand without its column's affinity (`+ZAGE`), so that SQLite converts neither side.
    var withoutAffinity: SQLOperand {
        var operand = self
        if isColumn { operand.fragment = SQLFragment(.unindexed(fragment)) }
        return operand
    }

    /// The operand as the other side's constant sees it: in a search for text in a number's digits, the constant stays
    /// a text.
    func asSide(of comparison: ComparisonOperator) -> SQLOperand {
        var side = self
        switch comparison {
        case .contains, .beginsWith, .endsWith, .like, .matches: if storage?.isNumber == true { side.storage = nil }
        default: break
        }
        return side
    }

    /// A condition on the value, false or NULL where the value is NULL. For a property that several subentities
    /// declare, it is repeated for each of their columns, so that each can use its index.
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

extension SQLOperand {
    /// What kind its values are; nil if that is not known, or if there are several.
    var kind: ValueKind? {
        if isMixed { return nil }
        if entities != nil { return .object }
        return storage.map(ValueKind.init) ?? isWhole.map { _ in .number } ?? constantKind
    }

    /// Whether the operands never hold the same object, or value: objects of two tables, whose keys may be equal by
    /// chance, or values of two kinds.
    func isNeverEqual(to other: SQLOperand) -> Bool {
        if let root, let othersRoot = other.root { return root !== othersRoot && root.name != othersRoot.name }
        let hasKey = root != nil || other.root != nil
        // An object is not among the values of several kinds.
        if hasKey, isMixed || other.isMixed { return true }
        if hasKey, (entities == nil) != (other.entities == nil) { return true }
        guard let kind, let othersKind = other.kind else { return false }
        if kind == .archive || othersKind == .archive { return hasKey }
        return !kind.isComparable(with: othersKind)
    }

    /// Whether one may be searched for the other: one of them is a text, the other one a text or a number.
    func canBeSearched(for other: SQLOperand) -> Bool {
        let kinds = [kind ?? .text, other.kind ?? .text]
        return kinds.contains(.text) && kinds.allSatisfy { $0 == .text || $0 == .number }
    }
}
