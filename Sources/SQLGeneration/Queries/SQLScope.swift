import CoreDataModel
import StoreEngine

/// The rows of a FROM clause: a table with an alias, and the joined tables of to-one destinations.
final class SQLScope {
    let mapping: EntityMapping
    let alias: String
    /// The state that the scopes of one statement share.
    let names: AliasNames
    private(set) var joins = SQLFragment.empty
    private var joined: [[String]: (mapping: EntityMapping, alias: String)] = [:]
    /// The scopes of the variables of subqueries.
    var variables: [String: SQLScope]

    init(mapping: EntityMapping, names: AliasNames, variables: [String: SQLScope] = [:]) {
        self.mapping = mapping
        self.names = names
        self.variables = variables
        alias = names.next()
    }

    /// The table and its alias, with the joins so far: `ZCAR t0 LEFT OUTER JOIN ZPERSON t1 ON t0.ZOWNER = t1.Z_PK`.
    var from: SQLFragment { "\(name: mapping.table) \(word: alias)\(joins)" }

    /// A column of the table.
    func column(_ name: String) -> SQLColumn { SQLColumn(name, of: alias) }

    /// A scope for the rows of a subquery.
    func inner(_ mapping: EntityMapping) -> SQLScope { SQLScope(mapping: mapping, names: names, variables: variables) }

    /// An alias for a table that does not belong to an entity.
    func nextAlias() -> String { names.next() }

    /// Resolves a key path.
    func resolve(_ path: [String], schema: SQLSchema) throws -> ResolvedPath {
        var row: Row = (mapping, alias)
        for (position, key) in path.enumerated() {
            let isLast = position == path.count - 1
            if key == "self" || key == "SELF" { continue }
            if key == "objectID", isLast { break }
            if key == "entity", isLast, row.mapping.layout.propertyByName[key] == nil { return .entity(row.alias) }
            switch try step(path, at: position, from: row, schema) {
            case .end(let resolved): return resolved
            case .row(let next): row = next
            }
        }
        return .object(row.alias, row.mapping)
    }

    /// A row that a key path leads to.
    private typealias Row = (mapping: EntityMapping, alias: String)

    /// Where a key of a path leads to.
    private enum Step {
        /// The row of a to-one destination, where the next key is looked for.
        case row(Row)
        /// The target of the path.
        case end(ResolvedPath)
    }

    /// Follows one key of a path.
    private func step(
        _ path: [String], at position: Int, from start: Row, _ schema: SQLSchema
    ) throws -> Step {
        let key = path[position]
        var mapping = start.mapping
        let alias = start.alias
        // A property of a subentity is a column of the same table; several may each have one of that name.
        var siblings: [EntityMapping] = []
        if mapping.layout.propertyByName[key] == nil {
            siblings = mapping.layout.declarers(ofProperty: key).compactMap { schema.mapping(of: $0) }
            if let first = siblings.first { mapping = first }
        }
        guard let property = mapping.layout.propertyByName[key] else {
            throw KeyPathError.unknownKey(key, path: path, entity: mapping.layout)
        }
        try mapping.checkAvailable(key, "cannot be fetched or compared")
        switch property {
        case .slot(let slot):
            guard var column = mapping.columns[slot] else {
                throw SQLError.unsupported(
                    "“\(path.joined(separator: "."))”, since “\(mapping.layout.name).\(key)” is transient")
            }
            column.siblings = try siblings.dropFirst().map { try $0.sibling(key, of: column, in: mapping) }
            return try follow(column, of: (mapping, alias), path, at: position, schema)
        case .toMany(let index):
            if siblings.count > 1 { throw siblings[1].isNoSibling(key, of: mapping) }
            guard let toMany = mapping.toManys[index] else {
                throw SQLError.unsupported("“\(path.joined(separator: "."))”, which is not stored")
            }
            return .end(
                .toMany(
                    ToManyPath(
                        alias: alias, relationship: mapping.layout.relationships[index], mapping: toMany,
                        rest: Array(path[(position + 1)...]))))
        case .fetched:
            throw SQLError.unsupported("the fetched property “\(path.joined(separator: "."))”")
        }
    }

    /// Follows a key that a column of a row stands for: to its value, or to the destination, whose table is joined.
    private func follow(
        _ column: SlotColumn, of row: Row, _ path: [String], at position: Int, _ schema: SQLSchema
    ) throws -> Step {
        if column.isComposite {
            let element = try Self.element(of: column, path: path, from: position + 1)
            return .end(element.isComposite ? .composite(row.alias, element) : .column(row.alias, element))
        }
        if position == path.count - 1 { return .end(.column(row.alias, column)) }
        if column.storage.isTransformable { throw PredicateSQL.transformableContentError(.keyPath(path)) }
        // The column already holds the destination's key, so no join is needed.
        if position == path.count - 2, path[position + 1] == "objectID" { return .end(.column(row.alias, column)) }
        if let destination = column.destination, let finding = schema.finding(of: destination) {
            throw finding.error("“\(path.joined(separator: "."))” cannot be fetched or compared", url: nil)
        }
        guard let destination = column.destination, let mapping = schema.mapping(of: destination) else {
            throw KeyPathError.unknownKey(path[position + 1], path: path, entity: row.mapping.layout)
        }
        return .row((mapping, join(column, mapping, from: row.alias, path: Array(path[...position]))))
    }

    private static func element(of column: SlotColumn, path: [String], from position: Int) throws -> SlotColumn {
        var current = column
        for key in path[position...] {
            guard let element = current.elements.first(where: { $0.property.hasSuffix("." + key) }) else {
                throw SQLError.unsupported("“\(path.joined(separator: "."))”: the composite attribute has no “\(key)”")
            }
            current = element
        }
        return current
    }

    private func join(_ column: SlotColumn, _ mapping: EntityMapping, from alias: String, path: [String]) -> String {
        if let known = joined[path] { return known.alias }
        let new = names.next()
        joins =
            "\(joins) LEFT OUTER JOIN \(name: mapping.table) \(word: new) ON \(column.value(of: alias)) = \(.key, of: new)"
        joined[path] = (mapping, new)
        return new
    }
}

/// Counts the aliases of one statement: `t0`, `t1`.
final class AliasNames {
    /// Whether the text serves every predicate of the same skeleton.
    var isReusable = true
    /// How many objects of the statement a condition is evaluated for.
    var asked = AskedObjects.all
    let length = SQLLength()
    /// The values that variables stand for, each a single value of a list.
    var listed: [String: SQLOperand] = [:]
    private var count = 0

    func next() -> String {
        defer { count += 1 }
        return "t\(count)"
    }
}

/// The target of a key path.
enum ResolvedPath {
    /// A column of the table with the alias.
    case column(String, SlotColumn)
    /// A composite attribute, or an element that is one itself, with columns in the table with the alias.
    case composite(String, SlotColumn)
    /// The number of the object's entity, in the table with the alias.
    case entity(String)
    /// The object itself.
    case object(String, EntityMapping)
    /// The destinations of a to-many relationship, and the keys after it.
    case toMany(ToManyPath)
}

/// A key path up to its first to-many relationship, and the keys after it.
struct ToManyPath {
    /// The alias of the table with the rows that the relationship starts from.
    let alias: String
    let relationship: RelationshipLayout
    let mapping: ToManyMapping
    let rest: [String]
}

/// How many objects a database evaluates a condition for.
enum AskedObjects: Comparable {
    /// For all objects, unless the condition itself finds them.
    case all
    /// For those in a range of an index, or until a limit is reached, which may be few.
    case some
    /// For those with a value that an index finds.
    case few
}

// Whether a database finds the rows that meet a condition without reading all of them.
extension PredicateSQL {
    /// Whether destinations that meet a comparison are found before the objects that lead to them: by their keys or an
    /// index; behind a join table also by looking at each destination once, rather than at each pair.
    func findsRows(_ tree: ComparisonTree, _ target: ExistenceTarget, in scope: SQLScope) -> Bool {
        guard hasGivenValue(tree.right) else { return false }
        let isKey = target.keys.isEmpty
        // Another condition finds few rows, so this one is cheap for each; only a list is compared value by value.
        if scope.names.asked == .few { return isKey && tree.comparison == .in }
        // Searches, and comparisons with options, call a function for each destination, and often find many.
        let searches = scope.names.asked == .all && target.isPaired
        switch tree.comparison {
        case .equalTo, .in:
            if isKey || searches { return true }
            return tree.options.isEmpty && (target.isPaired || hasIndex(target.keys, in: target.scope))
        case .contains, .beginsWith, .endsWith, .like, .matches: return searches
        default: return false
        }
    }

    /// How many objects the other conditions are evaluated for beside one that finds its objects by keys or an index.
    func asked(beside tree: PredicateTree, in scope: SQLScope) -> AskedObjects {
        guard case .comparison(let comparison) = tree, comparison.modifier == .direct, comparison.options.isEmpty
        else { return .all }
        var (key, value) = (comparison.left, comparison.right)
        let found: AskedObjects
        switch comparison.comparison {
        case .in: found = .few
        case .between, .beginsWith: found = .some
        case .equalTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            found = comparison.comparison == .equalTo ? .few : .some
            if key.isGiven { swap(&key, &value) }
        default: return .all
        }
        guard hasGivenValue(value) else { return .all }
        switch key {
        case .evaluatedObject: return found
        case .keyPath(let keys), .path(from: .evaluatedObject, let keys):
            guard hasIndex(keys, in: scope) else { return .all }
            // Only a text's beginning is a range of the index.
            let isText = scope.mapping.column(named: keys[0])?.storage == .string
            return comparison.comparison != .beginsWith || isText ? found : .all
        default: return .all
        }
    }

    /// Whether a fetch reads only as many objects as its limit needs: in any order, or in an index's.
    func stopsAtLimit(_ plan: FetchPlan, sortedBy terms: [SortTerm], in scope: SQLScope) -> Bool {
        guard plan.limit > 0, plan.groupBy.isEmpty else { return false }
        guard let first = terms.first else { return true }
        return first.keyPath.isEmpty || first.comparison == .plain && hasIndex(first.keyPath, in: scope)
    }

    private func hasGivenValue(_ value: ExpressionTree) -> Bool {
        if isNull(value) { return false }
        if case .aggregate(let elements) = value { return elements.allSatisfy(\.isGiven) }
        return value.isGiven
    }

    /// Whether an index finds objects by a value: a destination, or an attribute that leads an index. That of a Boolean
    /// value finds half of all.
    private func hasIndex(_ keys: [String], in scope: SQLScope) -> Bool {
        let layout = scope.mapping.layout
        guard keys.count == 1, case .slot(let slot)? = layout.propertyByName[keys[0]],
            let column = scope.mapping.columns[slot], !column.isComposite,
            layout.slots[slot].attribute?.description.attributeType != .booleanAttributeType
        else { return keys == ["objectID"] || keys == ["self"] || keys == ["SELF"] }
        return column.destination != nil || layout.uniquenessConstraints.contains { $0.first == keys[0] }
            || sequence(first: layout, next: \.superentity).contains { $0.description.leadsIndex(keys[0]) }
    }
}

extension NSEntityDescription {
    fileprivate func leadsIndex(_ key: String) -> Bool {
        if ownProperties.contains(where: { $0.isIndexed && $0.name == key }) { return true }
        return indexes.contains { index in
            guard index.partialIndexPredicate == nil, let first = index.elements.first else { return false }
            return first.propertyName == key && first.collationType == .binary
        }
    }
}
