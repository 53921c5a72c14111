import CoreDataModel
import Foundation
import StoreEngine

/// A model as a database: the table of each entity, and the column of each property. Pure; built once per store.
///
/// Names and order are Core Data's: `ZCAR` with `Z_PK, Z_ENT, Z_OPT` and `Z<PROPERTY>`, subentities in their root's
/// table, join tables `Z_<n><REL>`. The numbers of the entities are part of some names. For an existing store, the
/// numbers are read from its `Z_PRIMARYKEY`, and the names from its tables (``SchemaReconciliation``).
package struct SQLSchema: Sendable {
    package let layout: ModelLayout
    /// The mappings in the order of the layout's entities; nil for entities that the store does not hold.
    package private(set) var mappings: [EntityMapping?]
    /// The tables of the root entities, in the order of their numbers.
    package let tables: [TableDefinition]
    /// The join tables, each with the number of the root entity whose table precedes it.
    package let joinTables: [JoinTableDefinition]
    /// The parts that an existing store lacks, or for which it has several candidates.
    package let findings: [SchemaFinding]
    /// The entities that the store does not hold since another program has migrated them; nil for none.
    package let outdated: OutdatedEntities?
    private let layoutIndexByNumber: [Int: Int]

    /// Lays out a model.
    ///
    /// - Parameters:
    ///   - layout: the compiled model.
    ///   - entityNames: the entities of the store's configuration; nil for all.
    ///   - numbers: the numbers that an existing store gave its entities; nil to number them from 1.
    ///   - catalog: the content of an existing store, which takes precedence over the rules.
    ///   - naming: names tables and columns; nil for Core Data's rules.
    ///   - outdated: the entities that another program has migrated, which are not among `entityNames`.
    package init(
        layout: ModelLayout, entityNames: Set<String>? = nil, numbers: [String: Int]? = nil,
        catalog: StoreCatalog? = nil, naming: (([EntityLayout], [String: Int]) -> SchemaNames)? = nil,
        outdated: OutdatedEntities? = nil
    ) {
        let builder = SchemaBuilder(
            layout: layout, entityNames: entityNames, numbers: numbers, catalog: catalog, naming: naming)
        (self.layout, self.outdated) = (layout, outdated)
        mappings = builder.mappings
        tables = builder.tables
        joinTables = builder.joinTables
        findings = builder.findings
        var byNumber: [Int: Int] = [:]
        for (index, mapping) in mappings.enumerated() {
            if let mapping { byNumber[mapping.number] = index }
        }
        layoutIndexByNumber = byNumber
    }

    /// The same schema with derived attributes that are written like others.
    package func takingDerivedValues() -> SQLSchema {
        var schema = self
        schema.mappings = mappings.map { $0?.takingDerivedValues() }
        return schema
    }

    /// The same schema; if asked for, without the rows of entities that the model does not have.
    package func leavingOutStrangers(_ leavesOut: Bool) -> SQLSchema {
        guard leavesOut else { return self }
        var schema = self
        schema.mappings = mappings.map { $0?.leavingOutStrangers() }
        return schema
    }

    /// The numbers of the entities that the store holds, by name.
    package var entityNumbers: [String: Int] {
        Dictionary(
            mappings.compactMap { $0.map { ($0.layout.name, $0.number) } }, uniquingKeysWith: { first, _ in first })
    }

    /// The mapping of an entity; nil if the store does not hold it.
    package func mapping(of entity: EntityLayout) -> EntityMapping? {
        let index = entity.number - 1
        return mappings.indices.contains(index) ? mappings[index] : nil
    }

    /// The entity with a `Z_ENT`, if it is the given one or inherits from it: a column can contain any number.
    package func entity(numbered number: Int64, kindOf entity: EntityLayout) -> EntityLayout? {
        guard let layout = mapping(number: Int(number))?.layout, layout.isKind(of: entity) else { return nil }
        return layout
    }

    /// The mapping of the entity with a `Z_ENT`.
    package func mapping(number: Int) -> EntityMapping? { layoutIndexByNumber[number].flatMap { mappings[$0] } }
}

extension SQLSchema {
    /// Whether a store has an order column with the number of its relationship's column, as earlier versions of Pippin
    /// named it, where Core Data gives it a number of its own.
    ///
    /// - Parameter rule: the schema of the same model by the rules.
    /// - Returns: whether there is one; false for a store that lacks something.
    package func hasFormerOrderColumns(unlike rule: SQLSchema) -> Bool {
        func isFormer(_ order: String?, of column: String, _ expected: String?) -> Bool {
            order != nil && order != expected && order == "Z_FOK_\(column.dropFirst())"
        }
        return findings.isEmpty
            && zip(mappings, rule.mappings).contains { mapping, rule in
                guard let mapping, let rule else { return false }
                return zip(mapping.columns, rule.columns).contains { column, rule in
                    column.map { isFormer($0.orderColumn, of: $0.name, rule?.orderColumn) } ?? false
                }
                    || mapping.owners.contains { owner in
                        let expected = rule.owners.first { $0.relationship === owner.relationship }
                        return isFormer(owner.orderColumn, of: owner.name, expected?.orderColumn)
                    }
            }
    }
}

extension SQLSchema {
    /// The join tables that a store has beside the tables and columns of the schema; nil if it does not have these,
    /// with their types, or has other tables of entities, or numbers other entities.
    ///
    /// For a store that keeps no copy of its model, and whose version hashes cannot be compared, its tables identify
    /// the version of the model: every stored property of that version is a column, and every column is a property. A
    /// join table may be left of a relationship that is gone.
    package func leftJoinTables(of catalog: StoreCatalog) -> [String]? {
        guard findings.isEmpty, catalog.numbers.count == mappings.lazy.compactMap({ $0 }).count else { return nil }
        var remaining = catalog.tables.filter { Self.isOfModel($0.key) }
        for table in tables + joinTables.map(\.table) {
            guard let columns = remaining.removeValue(forKey: table.name),
                Self.fits(Self.types(of: columns), Self.types(of: table.columns))
            else { return nil }
        }
        guard remaining.keys.allSatisfy({ $0.hasPrefix("Z_") }) else { return nil }
        return remaining.keys.sorted()
    }

    /// Tables of entities are named like `ZCAR`, join tables like `Z_5TAGS`; others, such as those of iCloud, belong to
    /// no model.
    private static func isOfModel(_ table: String) -> Bool {
        guard !StoreTables.isReserved(table), table.hasPrefix("Z") else { return false }
        let rest = table.dropFirst()
        return !rest.hasPrefix("_") || (rest.dropFirst().first?.isNumber ?? false)
    }

    /// Whether columns have the types of others. Up to Mac OS X 10.5, those of join tables had none.
    private static func fits(_ columns: [String: String], _ expected: [String: String]) -> Bool {
        columns.count == expected.count
            && columns.allSatisfy { name, type in expected[name].map { type.isEmpty || type == $0 } ?? false }
    }

    private static func types(of columns: [TableDefinition.Column]) -> [String: String] {
        // SQLite does not report the primary key as part of the type.
        let keyless = columns.filter { $0.name != "Z_PK" }
        return Dictionary(
            keyless.map { ($0.name, $0.declaredType.uppercased()) }, uniquingKeysWith: { first, _ in first })
    }
}

/// What a database says of a row that would have the same unique values as another one, in the model's names. Pure.
package struct UniqueViolation: Equatable {
    package let entity: String
    package let properties: [String]

    /// Reads a sentence of SQLite's: `UNIQUE constraint failed: ZCAR.ZMAKER, ZCAR.ZPLATE`. Fails for columns that are
    /// no properties of one entity, and for an index on expressions.
    package init?(sqlite sentence: String, _ schema: SQLSchema) {
        let columns =
            sentence.split(separator: ": ").last?.split(separator: ", ").map { $0.split(separator: ".") } ?? []
        guard let table = columns.first?.first, columns.allSatisfy({ $0.count == 2 && $0[0] == table }) else {
            return nil
        }
        self.init(columns.map { String($0[1]) }, schema) { $0 == table }
    }

    /// Reads a detail of PostgreSQL's, in which columns stand before values in each language: `Key (maker,
    /// plate)=(Tesla, B-1) already exists.` Fails as for SQLite.
    ///
    /// - Parameters:
    ///   - detail: the server's detail.
    ///   - schema: the schema that has the table.
    ///   - isTable: whether a mapping's table is the one that the server names.
    package init?(postgres detail: String, _ schema: SQLSchema, isTable: (String) -> Bool) {
        guard let end = detail.range(of: ")=("), let begin = detail[..<end.lowerBound].firstIndex(of: "(") else {
            return nil
        }
        let names = detail[detail.index(after: begin)..<end.lowerBound]
        self.init(names.split(separator: ", ").map(String.init), schema, isTable: isTable)
    }

    private init?(_ columns: [String], _ schema: SQLSchema, isTable: (String) -> Bool) {
        // Subentities have the columns of their parent, whose constraint it is.
        let mappings = schema.mappings.compactMap { $0 }.filter { isTable($0.table) }
        for mapping in mappings.sorted(by: { $0.numbers.count > $1.numbers.count }) {
            let stored = mapping.storedColumns
            let found = columns.compactMap { name in stored.first { $0.name == name }?.property }
            guard found.count == columns.count else { continue }
            (entity, properties) = (mapping.layout.name, found)
            return
        }
        return nil
    }

    /// `two objects of “Car” with the same maker, plate`
    package var description: String { "two objects of “\(entity)” with the same \(properties.joined(separator: ", "))" }
}

extension StoreError {
    /// The error of a batch request after which two objects would have the same unique values.
    ///
    /// - Parameters:
    ///   - violation: what the database says, if it names properties.
    ///   - work: the work with the store's name, for the message: `update “books.sqlite”`.
    ///   - reason: the database's own words.
    ///   - url: the location of the store.
    ///   - underlying: the database's error.
    ///   - userInfo: what else the error says.
    /// - Returns: an `NSManagedObjectConstraintMergeError`.
    package static func sameUniqueValues(
        _ violation: UniqueViolation?, _ work: String, reason: String, url: URL?, underlying: (any Error)? = nil,
        userInfo: [String: Any] = [:]
    ) -> NSError {
        var info = userInfo
        if let violation { (info[entityKey], info[propertiesKey]) = (violation.entity, violation.properties) }
        return make(
            CoreDataErrorCode.managedObjectConstraintMerge,
            "Cannot \(work): there would be \(violation?.description ?? "two objects with the same unique values") "
                + "(\(reason)); nothing was changed.", url: url,
            suggestion: "For an insertion, set the context's mergePolicy to one that says which object wins.",
            underlying: underlying, userInfo: info)
    }
}

extension ModelLayout {
    /// The entities that a program cannot use any more when another one has migrated some of them: these, and all that
    /// relationships or inheritance connect with them, before or since. A change of any of the others concerns none of
    /// these. Pure.
    ///
    /// - Parameters:
    ///   - names: the entities whose version in the store is another one.
    ///   - stored: the model that the store has now.
    /// - Returns: the names of the entities.
    package func entities(connectedWith names: Set<String>, in stored: NSManagedObjectModel) -> Set<String> {
        var neighbours: [String: Set<String>] = [:]
        func connect(_ entity: String, _ other: String?) {
            guard let other else { return }
            neighbours[entity, default: []].insert(other)
            neighbours[other, default: []].insert(entity)
        }
        for entity in entities {
            connect(entity.name, entity.superentity?.name)
            for relationship in entity.relationships { connect(entity.name, relationship.destination.name) }
        }
        for entity in stored.entities {
            let name = entity.name ?? ""
            connect(name, entity.superentity?.name)
            for relationship in entity.relationshipsByName.values {
                connect(name, relationship.destinationEntity?.name)
            }
        }
        var found = names
        var waiting = Array(names)
        while let name = waiting.popLast() {
            for next in neighbours[name] ?? [] where found.insert(next).inserted { waiting.append(next) }
        }
        return found
    }
}

extension SQLSchema {
    /// Checks that an entity is still of the version that the model has.
    ///
    /// - Throws: the error that says of another version.
    package func checkCurrent(_ entity: EntityLayout) throws {
        if let outdated, outdated.entities.contains(entity.name) { throw outdated.error }
    }
}

/// The entities that another program has migrated while the store was open.
package struct OutdatedEntities: Sendable {
    package let entities: Set<String>
    /// What their use is answered with.
    package let error: NSError

    package init(_ entities: Set<String>, _ error: NSError) { (self.entities, self.error) = (entities, error) }
}

extension EntityMapping {
    /// Checks that a property's place in the store is known.
    ///
    /// - Throws: 134020, naming entity and property, if it is not.
    package func checkAvailable(_ property: String, _ use: String = "cannot be saved", url: URL? = nil) throws {
        guard !unavailable.isEmpty, let finding = unavailable[property] else { return }
        throw finding.error("“\(layout.name).\(property)” \(use)", url: url)
    }

    /// Checks that each value of a new row has a place.
    ///
    /// - Throws: 134020, naming entity and property, if a value that is not null has none.
    package func checkAvailable(_ values: some RandomAccessCollection<StoredValue>, url: URL?) throws {
        for (slot, value) in zip(layout.slots, values) where !value.isNull {
            try checkAvailable(slot.name, url: url)
        }
    }
}

extension SQLSchema {
    /// Why an entity has no table here; nil if it has one, or belongs to another store.
    package func finding(of entity: EntityLayout) -> SchemaFinding? {
        findings.first { $0.property == nil && $0.entity == entity.root.name }
    }

    /// The mapping of an entity, which must exist.
    ///
    /// - Throws: an `NSError` if its table is unknown, of another version, or belongs to another store.
    func neededMapping(of entity: EntityLayout) throws -> EntityMapping {
        if let mapping = mapping(of: entity) { return mapping }
        try checkCurrent(entity)
        if let finding = finding(of: entity) {
            throw finding.error("Objects of “\(entity.name)” cannot be fetched", url: nil)
        }
        throw SQLError.unsupported("entity “\(entity.name)”, which this store does not hold")
    }
}

extension EntityMapping {
    /// The condition that distinguishes the entity's rows from others in its table, `t0.Z_ENT IN (3, 4)`; nil if all
    /// rows are wanted.
    func filter(includesSubentities: Bool = true, alias: String) -> SQLFragment? {
        guard sharesTable else { return nil }
        guard layout.superentity != nil || !includesSubentities else {
            // The plus keeps SQLite from looking almost all rows up by an index.
            return leavesOutStrangers ? "+\(SQLFragment.isEntity(numbers, "\(.entity, of: alias)"))" : nil
        }
        return .isEntity(includesSubentities ? numbers : [number], "\(.entity, of: alias)")
    }
}

extension SQLFragment {
    /// Whether an entity's number is one of the given ones: `Z_ENT = 3`, `Z_ENT IN (3, 4)`.
    ///
    /// - Parameters:
    ///   - numbers: the numbers.
    ///   - column: the column with the number.
    /// - Returns: the condition.
    package static func isEntity(_ numbers: [Int], _ column: SQLFragment = "\(.entity)") -> SQLFragment {
        if numbers.count == 1, let number = numbers.first { return "\(column) = \(number: number)" }
        return "\(column) IN (\(.list(numbers.map { "\(number: $0)" })))"
    }
}
