import SQLiteEngine
import CoreDataModel
import SQLGeneration

/// Statements that compute derived attributes for the objects that are there: those that are new or computed otherwise than
/// before, and those that depend on other objects, which may have gone.
enum DerivedFills {
    static func statements(_ pair: SchemaPair) -> [String] {
        pair.destinationMappings.flatMap { mapping -> [String] in
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            return mapping.layout.slots[inherited...].compactMap { slot -> String? in
                guard let attribute = slot.attribute?.description as? NSDerivedAttributeDescription, !slot.isTransient,
                    let expression = attribute.derivationExpression, let column = mapping.column(named: slot.name),
                    let derivation = Derivation(expressionTree(of: expression))
                else { return nil }
                guard needsValue(slot, derivation, mapping, pair),
                    let value = value(derivation, mapping, pair.destination)
                else { return nil }
                return "UPDATE \(quoted(mapping.table)) SET \(quoted(column.name)) = \(value) WHERE "
                    + entityCondition(mapping.numbers)
            }
        }
    }

    private static func needsValue(
        _ slot: SlotLayout, _ derivation: Derivation, _ mapping: EntityMapping, _ pair: SchemaPair
    ) -> Bool {
        switch derivation {
        case .aggregate: return true
        case .value(let path, _) where path.count > 1: return true
        case .value, .now: break
        }
        guard let former = pair.former(mapping), let name = pair.plan(for: mapping)?.source(of: slot.name),
            let index = former.layout.slotIndex(forName: name)
        else { return true }
        return former.layout.slots[index].attribute?.derivation != slot.attribute?.derivation
    }

    private static func value(_ derivation: Derivation, _ mapping: EntityMapping, _ schema: SQLSchema) -> String? {
        let table = quoted(mapping.table)
        switch derivation {
        case .now: return "\(SQLFunctionName.now)()"
        case .value(let path, let function):
            func applied(_ value: String) -> String { function.map { "\($0)(\(value))" } ?? value }
            guard let first = mapping.column(named: path[0]) else { return nil }
            if path.count == 1 { return applied(quoted(first.name)) }
            guard let destination = first.destination.flatMap({ schema.mapping(of: $0) }),
                let column = destination.column(named: path[1])
            else { return nil }
            return "(SELECT \(applied("o." + quoted(column.name))) FROM \(quoted(destination.table)) o WHERE "
                + "o.Z_PK = \(table).\(quoted(first.name)))"
        case .aggregate(let name, let function, let attribute):
            guard case .toMany(let index)? = mapping.layout.propertyByName[name], let toMany = mapping.toManys[index]
            else { return nil }
            let destination = schema.mapping(of: mapping.layout.relationships[index].destination)
            let column = attribute.flatMap { destination?.column(named: $0) }.map { "o." + quoted($0.name) }
            let computed = function == "COUNT" ? "COUNT(*)" : column.map { "\(function)(\($0))" }
            guard let computed else { return nil }
            let result = function == "SUM" ? "IFNULL(\(computed), 0)" : computed
            switch toMany {
            case .foreignKey(let key):
                return "(SELECT \(result) FROM \(quoted(key.table)) o WHERE o.\(quoted(key.column)) = \(table).Z_PK)"
            case .joinTable(let join) where function == "COUNT":
                return "(SELECT COUNT(*) FROM \(quoted(join.table)) o WHERE "
                    + "o.\(quoted(join.sourceColumn)) = \(table).Z_PK)"
            case .joinTable: return nil
            }
        }
    }
}
