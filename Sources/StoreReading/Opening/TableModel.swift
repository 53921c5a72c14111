import CoreData
import ModelFiles
import SQLGeneration
import SQLiteEngine

/// A model for a store that has none: the entities of its tables, with an attribute for each column. Relationships are
/// the numbers in their columns.
enum TableModel {
    /// - Parameters:
    ///   - url: the file to read, the store's or a copy.
    ///   - store: the store, by which errors name it.
    ///   - reason: why there is no model, as a sentence without its final period.
    /// - Returns: the model.
    /// - Throws: `CommandError` for a file that cannot be read, or has no entities.
    static func candidate(for url: URL, store: URL, reason: String) throws -> ModelCandidate {
        let tables = try RawTables.reading(store) { try RawTables(RawStoreFile.forReading(url)) }
        let document = document(of: tables)
        guard !document.entities.isEmpty else { throw CommandError("\(reason), and it has no entities") }
        return ModelCandidate(
            document: document, versionHashes: [:], origin: "none: \(reason). Its tables are shown as they are",
            gap: "\(reason); its tables are shown as they are")
    }

    /// Pure.
    static func document(of tables: RawTables) -> ModelDocument {
        var document = ModelDocument()
        document.entities = tables.entities.map { entity in
            var described = EntityDocument(name: entity.name)
            described.parentName = entity.parent
            guard entity.parent == nil else { return described }
            for column in entity.table.columns {
                guard let property = attribute(column), described.property(named: property.name) == nil else {
                    continue
                }
                described.properties.append(property)
            }
            return described
        }
        return document
    }

    /// `ZTITLE VARCHAR` as the attribute `title`; nil for the columns that every row has. A column whose name begins
    /// with another character after the Z, such as `Z15NAME` of a relationship without an inverse, is an attribute of
    /// its whole name, since a query cannot contain `15name`; the former name leads to the column.
    private static func attribute(_ column: TableDefinition.Column) -> PropertyDocument? {
        let name = column.name.uppercased()
        guard name.hasPrefix("Z"), let first = name.dropFirst().first, !RawTables.isBookkeeping(name) else {
            return nil
        }
        let bare = name.dropFirst().lowercased()
        let isPlain = first.isLetter
        var property = PropertyDocument(
            name: isPlain ? bare : name.lowercased(),
            kind: .attribute(AttributeDocument(type: type(column.declaredType))))
        property.isOptional = true
        property.renamingIdentifier = isPlain ? nil : bare
        StoredNames.record(column.name, in: &property)
        return property
    }

    private static func type(_ declared: String) -> NSAttributeType {
        switch declared.uppercased() {
        case "INTEGER": .integer64AttributeType
        case "FLOAT", "REAL", "DOUBLE": .doubleAttributeType
        case "DECIMAL": .decimalAttributeType
        case "TIMESTAMP": .dateAttributeType
        case "BLOB": .binaryDataAttributeType
        default: .stringAttributeType
        }
    }
}
