import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

extension RowSQL {
    /// The references of a to-one relationship that lead to no row:
    /// `SELECT t0.Z_PK, t0.ZBOOK FROM ZPAGE t0 LEFT JOIN ZBOOK t1 ON t1.Z_PK = t0.ZBOOK WHERE t0.Z_ENT = 5 AND t0.ZBOOK NOT NULL AND
    /// t1.Z_PK IS NULL`.
    static func danglingReferences(
        _ column: SlotColumn, of source: EntityMapping, destination: EntityMapping
    ) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(column.name, of: "t0"))"
        let rows: SQLFragment = "SELECT \(.key, of: "t0"), \(reference) FROM \(name: source.table) t0"
        let target: SQLFragment = "LEFT JOIN \(name: destination.table) t1 ON \(.key, of: "t1") = \(reference)"
        let own: SQLFragment = "\(.entity, of: "t0") = \(number: source.number)"
        return "\(rows) \(target) WHERE \(own) AND \(reference) NOT NULL AND \(.key, of: "t1") IS NULL"
    }

    /// The rows of a join table that lead to no row:
    /// `SELECT t0.Z_5NOTES, t0.Z_13TAGS FROM Z_5TAGS t0 LEFT JOIN ZTAG t1 ON t1.Z_PK = t0.Z_13TAGS WHERE t1.Z_PK IS NULL`.
    static func danglingReferences(_ join: JoinMapping, destination: EntityMapping) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(join.destinationColumn, of: "t0"))"
        let rows: SQLFragment =
            "SELECT \(SQLColumn(join.sourceColumn, of: "t0")), \(reference) FROM \(name: join.table) t0"
        let target: SQLFragment = "LEFT JOIN \(name: destination.table) t1 ON \(.key, of: "t1") = \(reference)"
        return "\(rows) \(target) WHERE \(reference) NOT NULL AND \(.key, of: "t1") IS NULL"
    }
}

extension OpenStore {
    /// The references of a relationship that lead to no object, by the primary keys of the objects that have them: what a program
    /// that deleted rows itself leaves behind. One statement for all objects.
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
                sql = RowSQL.danglingReferences(column, of: source, destination: destination)
            } else if source.toManys.indices.contains(relationship.index),
                case .joinTable(let join)? = source.toManys[relationship.index]
            {
                sql = RowSQL.danglingReferences(join, destination: destination)
            } else {
                // A foreign key is in the destination's row, which is there.
                return [:]
            }
            let statement = try connection.prepare(sql.sqlite.text)
            var found: [Int64: [NSManagedObjectID]] = [:]
            while try statement.step() {
                found[statement.integer(at: 0), default: []].append(
                    NSManagedObjectID(layout: destination.layout, store: identity, key: statement.integer(at: 1)))
            }
            return found
        }
    }
}
