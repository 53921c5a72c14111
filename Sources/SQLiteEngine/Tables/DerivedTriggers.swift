import PredicateFormat
import SQLGeneration
import CoreDataModel

extension SQLSchema {
    /// The derived attributes that triggers compute, in the order of the entities.
    ///
    /// - Parameter refuse: takes the error for an expression that no trigger can compute; without an error of its own,
    ///   the attribute is left out.
    /// - Returns: the attributes, each with its triggers.
    /// - Throws: the errors of `refuse`.
    package func derivedAttributes(_ refuse: (any Error) throws -> Void) rethrows -> [DerivedAttribute] {
        try mappings.compactMap({ $0 }).flatMap { (mapping: EntityMapping) -> [DerivedAttribute] in
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            return try mapping.layout.slots[inherited...].compactMap { slot -> DerivedAttribute? in
                guard let attribute = slot.attribute?.description as? NSDerivedAttributeDescription,
                    let expression = attribute.derivationExpression, !slot.isTransient
                else { return nil }
                do { return try derivedAttribute(slot.name, of: mapping, expression) } catch { try refuse(error) }
                return nil
            }
        }
    }

    private func derivedAttribute(
        _ name: String, of mapping: EntityMapping, _ expression: PredicateFormat.NSExpression
    ) throws -> DerivedAttribute {
        guard let derivation = Derivation(expressionTree(of: expression)), let column = mapping.column(named: name)
        else { throw Self.underivable(mapping, name, "\(expression)") }
        let derived = DerivedColumn(mapping: mapping, property: name, column: quoted(column.name))
        return DerivedAttribute(
            mapping: mapping, property: name, column: column, expression: "\(expression)", derivation: derivation,
            isCircular: isCircular(derived), triggers: try triggers(derived, derivation, expression: "\(expression)"))
    }

    /// The triggers of all derived attributes, in the order of the entities.
    ///
    /// - Throws: an `NSError` for an expression that a trigger cannot compute.
    package func derivedAttributeTriggers() throws -> [TriggerDefinition] {
        try derivedAttributes { throw $0 }.flatMap(\.triggers)
    }

    private static func underivable(_ mapping: EntityMapping, _ property: String, _ expression: String) -> Error {
        SQLError.underivable("\(mapping.layout.name).\(property)", expression)
    }

    private func triggers(
        _ derived: DerivedColumn, _ derivation: Derivation, expression: String
    ) throws -> [TriggerDefinition] {
        let mapping = derived.mapping
        switch derivation {
        case .now: return own(derived, value: "\(SQLFunctionName.now)()", sourceColumn: "Z_OPT")
        case .value(let path, let function):
            func applied(_ value: String) -> String {
                function.map { SQLFragment.call($0, "\(word: value)").sqlite.text } ?? value
            }
            guard let first = mapping.column(named: path[0]), !first.isComposite else { break }
            if path.count == 1 {
                guard first.destination == nil else { break }
                return own(derived, value: applied(quoted(first.name)), sourceColumn: quoted(first.name))
            }
            guard let destination = first.destination.flatMap({ self.mapping(of: $0) }),
                let column = destination.column(named: path[1]), !column.isComposite
            else { break }
            return behindToOne(derived, key: quoted(first.name), destination, column: quoted(column.name), applied)
        case .aggregate(let name, let function, let attribute):
            guard case .toMany(let index)? = mapping.layout.propertyByName[name], let toMany = mapping.toManys[index],
                let destination = self.mapping(of: mapping.layout.relationships[index].destination)
            else { break }
            let column = attribute.flatMap { destination.column(named: $0) }
            guard attribute == nil || column?.isComposite == false else { break }
            switch toMany {
            case .foreignKey(let key) where function == .count: return count(derived, key)
            case .foreignKey(let key):
                guard let column else { break }
                // If the column is an aggregate itself, in the same table or in a circle, a change is passed on one
                // object at a time.
                let isChained = column.isDerived && (destination.table == mapping.table || isCircular(derived))
                return aggregate(derived, key, function, column: quoted(column.name), isChained: isChained)
            case .joinTable(let join) where function == .count: return count(derived, join)
            case .joinTable: break
            }
        }
        throw Self.underivable(mapping, derived.property, expression)
    }

    /// A value derived from the object's own: set when the object is inserted, and when the source value changes.
    private func own(
        _ derived: DerivedColumn, value: String, sourceColumn: String, occasion: String = ""
    ) -> [TriggerDefinition] {
        let table = derived.mapping.table
        return [
            TriggerDefinition(
                name: derived.name(on: table, "\(occasion)INSERT"), event: "AFTER INSERT ON \(derived.table)",
                condition: derived.entityCondition,
                statements: derived.set(value, where: "Z_PK = NEW.Z_PK", isInsert: true)),
            TriggerDefinition(
                name: derived.name(on: table, "\(occasion)UPDATE"),
                event: "AFTER UPDATE OF \(sourceColumn) ON \(derived.table)",
                condition: derived.entityCondition, statements: derived.set(value, where: "Z_PK = NEW.Z_PK")),
        ]
    }

    /// A value behind a to-one relationship: set when the object or its relationship changes, and when the source value
    /// does.
    private func behindToOne(
        _ derived: DerivedColumn, key: String, _ destination: EntityMapping, column: String,
        _ applied: (String) -> String
    ) -> [TriggerDefinition] {
        let other = quoted(destination.table)
        let value = "(SELECT \(applied(column)) FROM \(other) WHERE Z_PK = NEW.\(key))"
        let ownTriggers = own(derived, value: value, sourceColumn: key, occasion: "SOURCE_")
        func pushed(isInsert: Bool) -> [String] {
            derived.set(applied("NEW." + column), where: "\(key) = NEW.Z_PK", isInsert: isInsert)
        }
        return ownTriggers + [
            TriggerDefinition(
                name: derived.name(on: destination.table, "PARAMETER_INSERT"), event: "AFTER INSERT ON \(other)",
                statements: pushed(isInsert: true)),
            TriggerDefinition(
                name: derived.name(on: destination.table, "PARAMETER_UPDATE"),
                event: "AFTER UPDATE OF \(column) ON \(other)", statements: pushed(isInsert: false)),
        ]
    }

    /// `@count` of a one-to-many relationship: incremented and decremented.
    private func count(_ derived: DerivedColumn, _ foreign: ForeignKeyMapping) -> [TriggerDefinition] {
        let table = quoted(foreign.table)
        let key = quoted(foreign.column)
        let column = derived.column
        func trigger(_ occasion: String, _ event: String, _ row: String, _ value: String) -> TriggerDefinition {
            TriggerDefinition(
                name: derived.name(on: foreign.table, "PARAMETER_\(occasion)"), event: event,
                condition: "\(row).\(key) NOT NULL", statements: derived.set(value, where: "Z_PK = \(row).\(key)"))
        }
        let update = "AFTER UPDATE OF \(key) ON \(table)"
        return [
            trigger("INSERT", "AFTER INSERT ON \(table)", "NEW", "IFNULL(\(column), 0) + 1"),
            trigger("UPDATE_INCREMENT", update, "NEW", "\(column) + 1"),
            trigger("UPDATE_DECREMENT", update, "OLD", "\(column) - 1"),
            trigger("DELETE", "AFTER DELETE ON \(table)", "OLD", "\(column) - 1"),
            sourceInsert(derived, "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(table) WHERE \(key) = NEW.Z_PK)"),
        ]
    }

    /// `@count` of a many-to-many relationship: counted again with every change of a pair.
    private func count(_ derived: DerivedColumn, _ join: JoinMapping) -> [TriggerDefinition] {
        let table = quoted(join.table)
        let key = quoted(join.sourceColumn)
        func value(_ source: String) -> String { "(SELECT COUNT(*) FROM \(table) WHERE \(key) = \(source))" }
        func trigger(_ occasion: String, _ row: String) -> TriggerDefinition {
            TriggerDefinition(
                name: derived.name(on: join.table, "PARAMETER_\(occasion)"), event: "AFTER \(occasion) ON \(table)",
                statements: derived.set(value("\(row).\(key)"), where: "Z_PK = \(row).\(key)"),
                recomputation: derived.recomputation("\(row).\(key)", value))
        }
        return [trigger("INSERT", "NEW"), trigger("DELETE", "OLD"), sourceInsert(derived, value("NEW.Z_PK"))]
    }

    /// `@sum` and similar functions of a one-to-many relationship: computed again with every change.
    private func aggregate(
        _ derived: DerivedColumn, _ foreign: ForeignKeyMapping, _ function: Derivation.Aggregate, column: String,
        isChained: Bool
    ) -> [TriggerDefinition] {
        let table = quoted(foreign.table)
        let key = quoted(foreign.column)
        func value(_ row: String) -> String {
            let result = function.result("\(word: column)")?.sqlite.text ?? "NULL"
            return "(SELECT \(result) FROM \(table) WHERE \(key) = \(row))"
        }
        func trigger(
            _ occasion: String, _ event: String, _ row: String, and condition: String = ""
        ) -> TriggerDefinition {
            TriggerDefinition(
                name: derived.name(on: foreign.table, "PARAMETER_\(occasion)"), event: event,
                condition: "\(row).\(key) NOT NULL\(condition)",
                statements: derived.set(value("\(row).\(key)"), where: "Z_PK = \(row).\(key)"),
                recomputation: isChained ? nil : derived.recomputation("\(row).\(key)", value))
        }
        let update = "AFTER UPDATE OF \(key), \(column) ON \(table)"
        return [
            trigger("INSERT", "AFTER INSERT ON \(table)", "NEW"),
            trigger("UPDATE_NEW", update, "NEW"),
            // Otherwise the other trigger has done it.
            trigger("UPDATE_OLD", update, "OLD", and: " AND OLD.\(key) IS NOT NEW.\(key)"),
            trigger("DELETE", "AFTER DELETE ON \(table)", "OLD"),
            sourceInsert(derived, value("NEW.Z_PK")),
        ]
    }

    private func sourceInsert(_ derived: DerivedColumn, _ value: String) -> TriggerDefinition {
        TriggerDefinition(
            name: derived.name(on: derived.mapping.table, "SOURCE_INSERT"), event: "AFTER INSERT ON \(derived.table)",
            condition: derived.entityCondition,
            statements: derived.set(value, where: "Z_PK = NEW.Z_PK", isInsert: true))
    }
}
