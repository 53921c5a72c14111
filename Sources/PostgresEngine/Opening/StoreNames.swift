import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

extension DatabaseOpening {
    /// The entities of a schema whose tables or columns have other names in the store. Which of two alike names gets a
    /// number depends on all entities of a model, and the store's may have more than the program's.
    ///
    /// - Parameters:
    ///   - schema: the entities of the program's model.
    ///   - stored: what the database knows of the store.
    /// - Returns: their names, in order.
    /// - Throws: the server's errors.
    func entities(namedOtherThanIn schema: SQLSchema, _ stored: StoredStore) throws -> [String] {
        let own = schema.mappings.compactMap { $0 }
        guard Set(own.map(\.layout.name)) != Set(stored.numbers.keys), let model = try cachedModel(),
            model.unreadProperties.isEmpty
        else { return [] }
        let layout = try model.compiledLayout()
        let present = SQLSchema(
            layout: layout, entityNames: Set(stored.numbers.keys), numbers: stored.numbers,
            naming: PostgresNaming.names(in: place.schema))
        return own.filter { mapping in
            guard let there = layout.entityByName[mapping.layout.name].flatMap(present.mapping(of:)) else {
                return false
            }
            let names = there.names
            return mapping.names.contains { names[$0.key] != $0.value }
        }.map(\.layout.name).sorted()
    }
}

extension EntityMapping {
    /// The names of the table, and of the columns and tables of each property.
    fileprivate var names: [String: [String?]] {
        var names: [String: [String?]] = ["": [table]]
        for (slot, column) in zip(layout.slots, columns) {
            names[slot.name] = column?.flattened.flatMap { [$0.name, $0.entityColumn, $0.orderColumn] as [String?] }
        }
        for (relationship, toMany) in zip(layout.relationships, toManys) {
            switch toMany {
            case .foreignKey(let key): names[relationship.name] = [key.table] + key.columns
            case .joinTable(let join):
                names[relationship.name] = [join.table, join.sourceColumn, join.destinationColumn, join.orderColumn]
            case nil: break
            }
        }
        for owner in owners {
            names["\(owner.relationship.source.name).\(owner.relationship.name)"] = [owner.name, owner.orderColumn]
        }
        return names
    }
}
