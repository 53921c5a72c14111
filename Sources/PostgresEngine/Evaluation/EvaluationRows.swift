import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import StoreEngine

/// The objects on which a predicate is evaluated when the database cannot do it. Related objects are read for all
/// objects of a kind at once.
final class EvaluationRows {
    private let database: OpenDatabase
    private var operands: [NSManagedObjectID: RowOperand] = [:]
    /// The first error of a reading, kept since a predicate cannot throw.
    private(set) var failure: (any Error)?

    init(_ database: OpenDatabase) { self.database = database }

    /// Makes operands of rows that were read.
    func operands(for rows: some Sequence<Row>) -> [RowOperand] {
        let group = RowGroup()
        return rows.map { row in
            let operand = operand(row.objectID, group)
            operand.row = row
            return operand
        }
    }

    private func operand(_ identifier: NSManagedObjectID, _ group: RowGroup) -> RowOperand {
        if let known = operands[identifier] { return known }
        let new = RowOperand(identifier, self, group)
        operands[identifier] = new
        group.members.append(new)
        return new
    }

    fileprivate func attempt(_ body: () throws -> Void) {
        guard failure == nil else { return }
        do { try body() } catch { failure = error }
    }

    /// Reads the rows of a group.
    fileprivate func readRows(of group: RowGroup) {
        guard !group.isRead else { return }
        group.isRead = true
        let unread = group.members.filter { $0.row == nil }
        attempt {
            for row in try database.readRows(unread.map(\.identifier)) { operands[row.objectID]?.row = row }
        }
    }

    /// The object at the end of a to-one relationship. The destinations of the whole group are read together.
    fileprivate func destination(
        _ identifier: NSManagedObjectID, of relationship: RelationshipLayout, from group: RowGroup
    ) -> RowOperand {
        if let known = operands[identifier] { return known }
        let new = RowGroup()
        for member in group.members where member.identifier.layout.isKind(of: relationship.source) {
            if case .identifier(let other)? = member.row?.values[relationship.slot] { _ = operand(other, new) }
        }
        return operand(identifier, new)
    }

    /// The objects at the end of a to-many relationship.
    fileprivate func destinations(of relationship: RelationshipLayout, from source: RowOperand) -> [RowOperand] {
        let key = ObjectIdentifier(relationship)
        if let known = source.toManys[key] { return known }
        let sources = source.group.members.filter {
            $0.toManys[key] == nil && $0.identifier.layout.isKind(of: relationship.source)
        }
        let new = RowGroup()
        attempt {
            let lists = try database.readDestinations(of: relationship, for: sources.map(\.identifier))
            for (member, list) in zip(sources, lists) { member.toManys[key] = list.map { operand($0, new) } }
        }
        return source.toManys[key] ?? []
    }
}

/// Objects that were found together, and whose rows are read together.
final class RowGroup {
    fileprivate var members: [RowOperand] = []
    fileprivate var isRead = false
}

/// A row, or a dangling reference, as an operand of predicates.
final class RowOperand: NSObject, KeyedOperand {
    let identifier: NSManagedObjectID
    fileprivate(set) var row: Row?
    fileprivate var toManys: [ObjectIdentifier: [RowOperand]] = [:]
    fileprivate let group: RowGroup
    private unowned let graph: EvaluationRows

    fileprivate init(_ identifier: NSManagedObjectID, _ graph: EvaluationRows, _ group: RowGroup) {
        (self.identifier, self.graph, self.group) = (identifier, graph, group)
    }

    var operandIdentity: NSObject { identifier }

    func operand(forKey key: String) -> Value {
        if key == "self" || key == "SELF" || key == "objectID" { return .object(self) }
        guard let place = identifier.layout.propertyByName[key] else {
            return key == "entity" ? Value(identifier.layout.description) : .null
        }
        switch place {
        case .slot(let slot):
            if row == nil { graph.readRows(of: group) }
            guard let row else { return .null }
            return operand(row.values[slot], identifier.layout.slots[slot])
        case .toMany(let index):
            let relationship = identifier.layout.relationships[index]
            return .collection(graph.destinations(of: relationship, from: self).map { .object($0) })
        case .fetched: return .null
        }
    }

    func leadsToMany(_ keys: [String]) -> Bool { PredicateKeys.leadsToMany(keys, from: identifier.layout) }

    func endsToMany(_ keys: [String]) -> Bool { PredicateKeys.endsToMany(keys, from: identifier.layout) }

    var orderKey: Int64? { identifier.key }

    private func operand(_ value: StoredValue, _ slot: SlotLayout) -> Value {
        if case .identifier(let destination) = value, let relationship = slot.relationship {
            return .object(graph.destination(destination, of: relationship, from: group))
        }
        return slot.attribute.map { Value(value.objectValue(for: $0)) } ?? .null
    }
}
