import CoreDataModel
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
