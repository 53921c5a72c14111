import CoreDataModel
import PredicateFormat
import SQLGeneration
import SQLiteConnection

/// A trigger that keeps a derived attribute up to date.
package struct TriggerDefinition: Sendable, Equatable {
    package let name: String
    /// The event: `AFTER INSERT ON ZPAGE`.
    package let event: String
    /// The condition after WHEN; nil for none.
    package var condition: String?
    /// The statements of its body, without semicolons.
    package let statements: [String]
    /// How its work is done once for many rows; nil if it is little for each.
    package var recomputation: Recomputation?

    package var creation: String { creation("CREATE TRIGGER", statements) }

    /// The same trigger for one connection. If many rows are changed, it only collects the keys of objects whose values
    /// are computed later.
    package var temporaryCreation: String {
        creation("CREATE TEMP TRIGGER", recomputation.map { [$0.collection] } ?? statements)
    }

    private func creation(_ verb: String, _ statements: [String]) -> String {
        let when = condition.map { " WHEN (\($0))" } ?? ""
        let body = statements.map { $0 + ";" }.joined(separator: " ")
        return "\(verb) \(quoted(name)) \(event) FOR EACH ROW\(when) BEGIN \(body) END"
    }
}

/// The computation of an aggregate for several objects.
package struct Recomputation: Sendable, Equatable {
    /// The key of the object that a changed row belongs to: `NEW.ZCART`.
    let key: String
    /// What distinguishes the temporary table of the keys.
    package let purpose: String
    var table: String { KeyTable.name(purpose) }
    /// Adds the key to that table, once. `OR IGNORE` would be replaced by the clause of the statement that runs the
    /// trigger, which is `OR ABORT` in an upsert. A damaged reference that is not a whole number leads to no object.
    var collection: String {
        "INSERT INTO \(quoted(table)) (Z_PK) SELECT \(key) WHERE \(key) = CAST(\(key) AS INTEGER) "
            + "ON CONFLICT DO NOTHING"
    }
    /// Computes the values of the objects in that table, and reports them.
    package let statements: [String]
}

/// A derived attribute in its table, with the statements of its triggers.
struct DerivedColumn {
    let mapping: EntityMapping
    let property: String
    let column: String

    var table: String { quoted(mapping.table) }

    /// `Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT`: the trigger's table, the attribute, the occasion.
    func name(on table: String, _ occasion: String) -> String {
        "Z_DA_\(table)_\(mapping.layout.name)_\(property)_\(occasion)"
    }

    /// Sets the attribute of the rows that a condition selects, and reports it to the store.
    ///
    /// - Parameters:
    ///   - value: the value, in SQL.
    ///   - condition: the condition on the rows, in SQL.
    ///   - isInsert: whether an insertion is the occasion, of the object itself or of the one that it leads to.
    /// - Returns: the statements.
    func set(_ value: String, where condition: String, isInsert: Bool = false) -> [String] {
        let function = isInsert ? SQLFunctionName.valueInserted : SQLFunctionName.valueUpdated
        return [
            "UPDATE \(table) SET \(column) = \(value) WHERE \(condition)",
            "SELECT \(function)(\(literal(mapping.table)), Z_ENT, Z_PK, \(literal(property)), \(column)) FROM \(table) "
                + "WHERE \(condition)",
        ]
    }

    /// Sets the attribute of several objects later.
    ///
    /// - Parameters:
    ///   - key: the key of an object, in a trigger.
    ///   - value: makes the value of a key's object, in SQL.
    /// - Returns: the computation.
    func recomputation(_ key: String, _ value: (String) -> String) -> Recomputation {
        // Numbers: two entities and attributes may read the same when their names are joined, and SQLite ignores case.
        let purpose = "aggregate_\(mapping.number)_\(mapping.layout.slotIndex(forName: property) ?? 0)"
        let selected = "WHERE Z_PK IN (SELECT Z_PK FROM temp.\(quoted(KeyTable.name(purpose))))"
        let arguments = "\(literal(mapping.table)), Z_ENT, Z_PK, \(literal(property)), \(column)"
        return Recomputation(
            key: key, purpose: purpose,
            statements: [
                "UPDATE \(table) AS owner SET \(column) = \(value("owner.Z_PK")) \(selected)",
                "SELECT \(SQLFunctionName.valueUpdated)(\(arguments)) FROM \(table) \(selected)",
            ])
    }

    /// Limits a trigger on the attribute's own table to the rows of its entity; nil if all rows are of that entity.
    var entityCondition: String? {
        guard mapping.sharesTable, mapping.layout.superentity != nil else { return nil }
        return "NEW.Z_ENT IN (\(mapping.numbers.map(String.init).joined(separator: ", ")))"
    }
}

/// A derived attribute of an entity, with the triggers that compute it.
package struct DerivedAttribute {
    package let mapping: EntityMapping
    package let property: String
    package let column: SlotColumn
    /// The expression, in the spelling of `NSExpression(format:)`.
    package let expression: String
    package let derivation: Derivation
    /// Whether the attribute depends on itself, so that no value is the right one by itself.
    package let isCircular: Bool
    package let triggers: [TriggerDefinition]

    /// What is wrong with the attribute's triggers in a file. Pure.
    ///
    /// Core Data's own triggers are right, whatever their names and statements: those of a store of Core Data's that
    /// set the attribute and report it, and all triggers of an attribute with one that has a name which Pippin does not
    /// give.
    ///
    /// - Parameters:
    ///   - found: the statements that made the triggers in the file, by the triggers' names in small letters.
    ///   - isOwn: whether the store is of Pippin's making.
    /// - Returns: the triggers that are not there, and those that do something else.
    package func differences(
        from found: [String: String], isOwn: Bool
    ) -> (missing: [TriggerDefinition], changed: [TriggerDefinition]) {
        let (part, known) = (
            "_\(mapping.layout.name)_\(property)_".lowercased(), Set(triggers.map { $0.name.lowercased() })
        )
        guard !found.keys.contains(where: { $0.contains(part) && !known.contains($0) }) else { return ([], []) }
        var (missing, changed): ([TriggerDefinition], [TriggerDefinition]) = ([], [])
        for trigger in triggers {
            guard let sql = found[trigger.name.lowercased()] else {
                missing.append(trigger)
                continue
            }
            let statement = Self.plain(sql)
            if statement == Self.plain(trigger.creation) || (!isOwn && isOfCoreData(statement)) { continue }
            changed.append(trigger)
        }
        return (missing, changed)
    }

    /// Whether a statement in plain letters makes a trigger that sets the attribute, and reports it to the store.
    private func isOfCoreData(_ statement: String) -> Bool {
        statement.contains(Self.plain("UPDATE \(mapping.table) SET \(column.name) ="))
            && statement.contains(Self.plain("UpdatedAffectedObjectValue('\(mapping.table)'"))
    }

    /// A statement without what it may be written with or without: blanks, and quotation marks around names. SQLite
    /// does not tell capitals from small letters.
    private static func plain(_ sql: String) -> String {
        String(decoding: sql.lowercased().utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }
}

extension Connection {
    /// The statements that made the triggers of derived attributes, by the triggers' names in small letters.
    package func derivedTriggers() throws -> [String: String] {
        let statement = try prepare(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'Z\\_DA\\_%' ESCAPE '\\'")
        var found: [String: String] = [:]
        while try statement.step() { found[statement.string(at: 0).lowercased()] = statement.string(at: 1) }
        return found
    }
}
