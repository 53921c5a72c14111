import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

extension OpenStore {
    /// The references of a relationship that lead to no object, by the primary keys of the referring objects. Programs
    /// that delete rows themselves leave them behind. One statement finds them for all objects.
    func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]] {
        try run("read from") {
            guard let source = schema.mapping(of: entity),
                let destination = schema.mapping(of: relationship.destination)
            else { return [:] }
            let sql: SQLFragment
            if !relationship.isToMany {
                guard let column = source.columns[relationship.slot] else { return [:] }
                sql = DanglingReferenceSQL.toOne(column, of: source, destination: destination)
            } else if source.toManys.indices.contains(relationship.index),
                case .joinTable(let join)? = source.toManys[relationship.index]
            {
                sql = DanglingReferenceSQL.joinTable(join, destination: destination)
            } else {
                // The foreign key is in the destination's own row, so it cannot dangle.
                return [:]
            }
            let statement = try connection.prepare(sql)
            var found: [Int64: [NSManagedObjectID]] = [:]
            while try statement.step() {
                found[statement.integer(at: 0), default: []].append(
                    NSManagedObjectID(layout: destination.layout, store: identity, key: statement.integer(at: 1)))
            }
            return found
        }
    }
}
