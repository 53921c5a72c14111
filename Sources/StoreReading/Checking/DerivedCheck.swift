import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// What is wrong with the derived attributes of a store: triggers that are missing or do something else, and values
/// that are not what the expressions say. Reads each table once for each attribute.
struct DerivedCheck {
    private let schema: SQLSchema
    private let connection: Connection
    /// Whether the store is of Pippin's making, so that its triggers are known letter by letter.
    private let isOwn: Bool
    private let attributes: [DerivedAttribute]

    /// - Parameters:
    ///   - schema: the tables.
    ///   - connection: reads the store's file, or writes to it where it is to be mended.
    ///   - metadata: the store's.
    init(_ schema: SQLSchema, _ connection: Connection, metadata: [String: Any]?) {
        (self.schema, self.connection) = (schema, connection)
        isOwn = metadata?[StoreDocument.ownHashesKey] != nil
        // What no trigger can compute, only another program keeps up to date.
        attributes = schema.derivedAttributes { _ in }
    }

    /// - Throws: SQLite's errors.
    func problems() throws -> [StoreCheck.Problem] {
        guard !attributes.isEmpty else { return [] }
        let found = try connection.derivedTriggers()
        return try attributes.flatMap { attribute -> [StoreCheck.Problem] in
            let (missing, changed) = attribute.differences(from: found, isOwn: isOwn)
            let defects = [(missing, "missing"), (changed, "changed")].compactMap { triggers, state in
                Self.text(of: triggers, state, attribute)
            }
            return defects.map { StoreCheck.Problem(kind: .structure, text: $0) }
                + (try wrongValues(of: attribute).map { [StoreCheck.Problem(kind: .value, text: $0)] } ?? [])
        }
    }

    /// Pure.
    private static func text(
        of triggers: [TriggerDefinition], _ state: String, _ attribute: DerivedAttribute
    ) -> String? {
        guard !triggers.isEmpty else { return nil }
        let names = triggers.prefix(TextTools.mostNamed).map { "“\($0.name)”" }.joined(separator: ", ")
        let rest = triggers.count > TextTools.mostNamed ? ", …" : ""
        return "\(TextTools.count(triggers.count, "trigger")) of the derived attribute "
            + "“\(name(of: attribute))” \(triggers.count == 1 ? "is" : "are") \(state): \(names)\(rest)"
    }

    private static func name(of attribute: DerivedAttribute) -> String {
        "\(attribute.mapping.layout.name).\(attribute.property)"
    }

    private func wrongValues(of attribute: DerivedAttribute) throws -> String? {
        guard let rows = wrongRows(of: attribute) else { return nil }
        let statement = try connection.prepare(rows)
        var (count, named) = (0, [String]())
        while try statement.step() {
            count += 1
            guard count <= TextTools.mostNamed else { continue }
            let (value, right) = (Self.shown(statement, 1), Self.shown(statement, 2))
            named.append("\(attribute.mapping.layout.name)/p\(statement.integer(at: 0)) (\(value) instead of \(right))")
        }
        guard count > 0 else { return nil }
        return "“\(Self.name(of: attribute))” of \(TextTools.count(count, "object")) is not what its expression "
            + "“\(attribute.expression)” says: \(named.joined(separator: ", "))\(count > named.count ? ", …" : "")"
    }

    private static func shown(_ statement: Statement, _ column: Int32) -> String {
        guard let text = statement.optionalString(at: column) else { return "none" }
        let line = TextTools.inOneLine(String(text.prefix(40)))
        return statement.kind(at: column) == .text ? "“\(line)\(text.utf8.count > line.utf8.count ? "…" : "")”" : line
    }

    /// The statement that finds wrong values; nil for an attribute whose right values are not known.
    private func wrongRows(of attribute: DerivedAttribute, onlyKeys: Bool = false) -> SQLFragment? {
        guard !attribute.isCircular else { return nil }
        return DerivationSQL.wrong(
            attribute.column, attribute.derivation, attribute.mapping, schema, onlyKeys: onlyKeys)
    }

    // MARK: Mending

    /// Makes missing and changed triggers anew.
    ///
    /// - Returns: what was done, in sentences without their final periods.
    /// - Throws: SQLite's errors.
    func mendTriggers() throws -> [String] {
        let found = try connection.derivedTriggers()
        return try attributes.compactMap { attribute in
            let (missing, changed) = attribute.differences(from: found, isOwn: isOwn)
            for trigger in changed { try connection.execute("DROP TRIGGER \"\(trigger.name)\"") }
            for trigger in missing + changed { try connection.execute(trigger.creation) }
            let count = missing.count + changed.count
            guard count > 0 else { return nil }
            return "“\(Self.name(of: attribute))”: \(TextTools.count(count, "trigger")) of the derived attribute "
                + "\(count == 1 ? "is" : "are") made anew"
        }
    }

    /// Computes wrong values anew. Of attributes that depend on one another, each round makes one right.
    ///
    /// - Returns: what was done, in sentences without their final periods.
    /// - Throws: SQLite's errors.
    func mendValues() throws -> [String] {
        var counts: [Int: Int] = [:]
        for _ in attributes {
            var isDone = true
            for (index, attribute) in attributes.enumerated() {
                guard let keys = wrongRows(of: attribute, onlyKeys: true),
                    let fill = DerivationSQL.fill(
                        attribute.column.name, attribute.derivation, attribute.mapping, schema, ofKeys: keys)
                else { continue }
                try connection.run(fill)
                guard connection.changes > 0 else { continue }
                counts[index] = max(counts[index] ?? 0, connection.changes)
                isDone = false
            }
            if isDone { break }
        }
        return counts.sorted { $0.key < $1.key }.map { index, count in
            "“\(Self.name(of: attributes[index]))”: \(TextTools.count(count, "value")) \(count == 1 ? "is" : "are") "
                + "computed anew"
        }
    }
}
