import CoreData
import ModelFiles
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// A model for a store that has none: the entities that `Z_PRIMARYKEY` numbers, with an attribute for each column.
/// Relationships are the numbers in their columns.
enum TableModel {
    static func candidate(for url: URL, facts: FileFacts, reason: String) throws -> ModelCandidate {
        let file = try StoreFile.openForReading(url)
        let catalog = try file.catalog()
        let document = document(
            of: catalog,
            parents: try RawStoreFile(url, mode: file.connection.mode).entities().map {
                ($0.name, $0.number, $0.parent)
            })
        guard !document.entities.isEmpty else { throw CommandError("\(reason), and it has no entities") }
        return ModelCandidate(
            document: document, versionHashes: [:], origin: "none: \(reason). Its tables are shown as they are",
            gap: "\(reason); its tables are shown as they are")
    }

    /// Pure.
    static func document(
        of catalog: StoreCatalog, parents: [(name: String, number: Int, parent: Int)]
    ) -> ModelDocument {
        var document = ModelDocument()
        let names = Dictionary(parents.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        let tables = Dictionary(
            catalog.tables.map { ($0.key.uppercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        let superiors = Dictionary(parents.map { ($0.number, $0.parent) }, uniquingKeysWith: { first, _ in first })
        for entity in parents.sorted(by: { $0.number < $1.number }) {
            // Entities that inherit from one another in a damaged store are shown without that.
            let parent = isEndless(entity.number, superiors) ? nil : names[entity.parent]
            guard parent != nil || tables["Z" + entity.name.uppercased()] != nil else { continue }
            var described = EntityDocument(name: entity.name)
            described.parentName = parent
            if parent == nil {
                for column in tables["Z" + entity.name.uppercased()] ?? [] {
                    guard let property = attribute(column), described.property(named: property.name) == nil else {
                        continue
                    }
                    described.properties.append(property)
                }
            }
            document.entities.append(described)
        }
        return document
    }

    /// Whether the inheritance above an entity is circular, or deeper than a model may be.
    private static func isEndless(_ number: Int, _ superiors: [Int: Int]) -> Bool {
        var current = number
        for _ in 0...DocumentCheck.maximumInheritance {
            guard let next = superiors[current] else { return false }
            current = next
        }
        return true
    }

    /// `ZTITLE VARCHAR` as the attribute `title`; nil for the columns that every row has. A column whose name begins
    /// with another character after the Z, such as `Z15NAME` of a relationship without an inverse, is an attribute of
    /// its whole name, since a query cannot contain `15name`; the former name leads to the column.
    private static func attribute(_ column: TableDefinition.Column) -> PropertyDocument? {
        let name = column.name.uppercased()
        guard name.hasPrefix("Z"), let first = name.dropFirst().first, !["Z_PK", "Z_ENT", "Z_OPT"].contains(name) else {
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
