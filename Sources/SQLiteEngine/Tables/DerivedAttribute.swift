import CompactCollections
import CoreDataModel
import SQLGeneration
import SQLiteConnection

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
