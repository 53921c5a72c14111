import CompactCollections
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
        var current: (mapping: EntityMapping, alias: String) = (mapping, alias)
        for (position, key) in path.enumerated() {
            let isLast = position == path.count - 1
            if key == "self" || key == "SELF" { continue }
            if key == "objectID", isLast { break }
            if key == "entity", isLast, current.mapping.layout.propertyByName[key] == nil {
                return .entity(current.alias)
            }
            // A property of a subentity is a column of the same table; several may each have one of that name.
            var siblings: [EntityMapping] = []
            if current.mapping.layout.propertyByName[key] == nil {
                siblings = current.mapping.layout.declarers(ofProperty: key).compactMap { schema.mapping(of: $0) }
                if let first = siblings.first { current.mapping = first }
            }
            guard let property = current.mapping.layout.propertyByName[key] else {
                throw KeyPathError.unknownKey(key, path: path, entity: current.mapping.layout)
            }
            try current.mapping.checkAvailable(key, "cannot be fetched or compared")
            switch property {
            case .slot(let slot):
                guard var column = current.mapping.columns[slot] else {
                    throw SQLError.unsupported(
                        "“\(path.joined(separator: "."))”, since “\(current.mapping.layout.name).\(key)” is transient")
                }
                column.siblings = try siblings.dropFirst().map { try $0.sibling(key, of: column, in: current.mapping) }
                if column.isComposite {
                    let element = try Self.element(of: column, path: path, from: position + 1)
                    return element.isComposite ? .composite(current.alias, element) : .column(current.alias, element)
                }
                if isLast { return .column(current.alias, column) }
                if column.storage.isTransformable { throw PredicateSQL.transformableContentError(.keyPath(path)) }
                // The column already holds the destination's key, so no join is needed.
                if position == path.count - 2, path[position + 1] == "objectID" {
                    return .column(current.alias, column)
                }
                if let destination = column.destination, let finding = schema.finding(of: destination) {
                    throw finding.error("“\(path.joined(separator: "."))” cannot be fetched or compared", url: nil)
                }
                guard let destination = column.destination, let mapping = schema.mapping(of: destination) else {
                    throw KeyPathError.unknownKey(
                        path[position + 1], path: path, entity: current.mapping.layout)
                }
                let alias = join(column, mapping, from: current.alias, path: Array(path[...position]))
                current = (mapping, alias)
            case .toMany(let index):
                if siblings.count > 1 { throw siblings[1].isNoSibling(key, of: current.mapping) }
                guard let toMany = current.mapping.toManys[index] else {
                    throw SQLError.unsupported("“\(path.joined(separator: "."))”, which is not stored")
                }
                return .toMany(
                    ToManyPath(
                        alias: current.alias, relationship: current.mapping.layout.relationships[index],
                        mapping: toMany, rest: Array(path[(position + 1)...])))
            case .fetched:
                throw SQLError.unsupported("the fetched property “\(path.joined(separator: "."))”")
            }
        }
        return .object(current.alias, current.mapping)
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
    /// Of how many objects of the statement a condition is asked.
    var asked = AskedObjects.all
    let length = SQLLength()
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
