import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

/// A derived attribute: how it is computed, and which changes require that.
package final class DerivedColumn {
    /// What an attribute is computed from, in addition to the object itself.
    package enum Source {
        case object
        /// A value behind a to-one relationship.
        case toOne(RelationshipLayout, column: String)
        /// The objects behind a to-many relationship.
        case toMany(RelationshipLayout, ToManyMapping)
    }

    package let mapping: EntityMapping
    package let slot: Int
    package let source: Source
    /// The attribute of the object itself that is computed from; nil for none, or if other objects are used.
    package let input: String?
    let column: WrittenColumn
    private let expression: ExpressionTree
    /// Whether the values from the database must be folded here, since the database does not do it as memory does.
    let foldsHere: Bool

    /// The derived attributes of a store, in the order of the entities.
    ///
    /// - Throws: an `NSError` for an expression that no store can compute.
    package static func all(in schema: SQLSchema) throws -> [DerivedColumn] {
        try schema.mappings.compactMap { $0 }.flatMap { mapping -> [DerivedColumn] in
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            return try mapping.layout.slots.indices.dropFirst(inherited).compactMap { slot in
                try DerivedColumn(mapping, slot, schema)
            }
        }
    }

    private init?(_ mapping: EntityMapping, _ slot: Int, _ schema: SQLSchema) throws {
        let layout = mapping.layout.slots[slot]
        guard let attribute = layout.attribute?.description as? NSDerivedAttributeDescription,
            let derivation = attribute.derivationExpression, !layout.isTransient,
            let column = WrittenColumn.columns(of: mapping, includesDerived: true).first(where: { $0.slot == slot })
        else { return nil }
        self.mapping = mapping
        self.slot = slot
        self.column = column
        var tree = expressionTree(of: derivation)
        if case .function(.canonical, let arguments) = tree, arguments.count == 1 {
            tree = arguments[0]
            foldsHere = true
        } else {
            foldsHere = false
        }
        expression = tree
        guard let source = Self.source(of: tree, mapping) else {
            throw SQLError.underivable("\(mapping.layout.name).\(layout.name)", "\(derivation)")
        }
        self.source = source
        if case .object = source { input = Self.keyPath(in: tree).first } else { input = nil }
    }

    /// Whether rows of the entity's table have the attribute, or it may be computed from them.
    func concerns(_ entity: EntityLayout) -> Bool {
        if mapping.layout.root === entity.root { return true }
        switch source {
        case .object: return false
        case .toOne(let relationship, _), .toMany(let relationship, _):
            return relationship.destination.root === entity.root
        }
    }

    private static func keyPath(in tree: ExpressionTree) -> [String] {
        switch tree {
        case .function(_, let arguments) where arguments.count == 1: keyPath(in: arguments[0])
        case .keyPath(let path): path
        default: []
        }
    }

    private static func source(of tree: ExpressionTree, _ mapping: EntityMapping) -> Source? {
        switch tree {
        case .function(.now, _): return .object
        case .function(_, let arguments) where arguments.count == 1: return source(of: arguments[0], mapping)
        case .keyPath(let path):
            let keys = path.filter { !$0.hasPrefix("@") }
            guard let first = keys.first, keys.count <= 2 else { return nil }
            guard let relationship = mapping.layout.relationship(named: first) else {
                return keys.count == 1 ? .object : nil
            }
            if relationship.isToMany {
                return mapping.toManys[relationship.index].map { .toMany(relationship, $0) }
            }
            return mapping.columns[relationship.slot].map { .toOne(relationship, column: $0.name) }
        default: return nil
        }
    }

    /// The statement that computes the attribute for all objects; nil if its values are made here.
    package func fill(in schema: SQLSchema) throws -> SQLFragment? {
        foldsHere ? nil : assignment(of: try values(in: schema, restriction: nil))
    }

    func values(
        in schema: SQLSchema, restriction: ((String) -> SQLFragment)?
    ) throws -> SQLFragment {
        var plan = FetchPlan(entity: mapping.layout)
        plan.columns = [
            .expression(name: "key", NSExpression.expressionForEvaluatedObject(), .objectIDAttributeType),
            .expression(name: "value", makeExpression(expression), .undefinedAttributeType),
        ]
        return try FetchSQL(schema: schema).statement(plan, result: .values, restriction: restriction).sql
    }

    func assignment(of values: SQLFragment) -> SQLFragment {
        let name: SQLFragment = "\(name: column.name)"
        let type: SQLFragment = "\(word: column.kind.type.name)"
        let found: SQLFragment = "(\(values)) AS f(k, v)"
        let condition: SQLFragment = "\(.key, of: "t") = f.k AND t.\(name) IS DISTINCT FROM f.v::\(type)"
        let returned: SQLFragment = "\(.key, of: "t"), \(.entity, of: "t"), t.\(name)"
        return
            "UPDATE \(name: mapping.table) t SET \(name) = f.v::\(type) FROM \(found) WHERE \(condition) RETURNING \(returned)"
    }
}
