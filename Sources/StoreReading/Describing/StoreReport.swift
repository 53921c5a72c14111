import CoreData
import KeyedArchives
import SQLiteEngine

/// The output of `pippin info`, as a value.
package struct StoreReport {
    package struct Entity {
        package let document: EntityDocument
        /// How many entities it inherits from.
        package let depth: Int
        package let count: Int
        /// Including the objects of all subentities.
        package let totalCount: Int
    }

    package var fileName: String
    package var uuid: String
    package var byteCount: Int64
    package var logByteCount: Int64
    /// What is not read of the log; nil if everything is.
    package var logGap: String?
    /// The rows that are no objects, in words.
    package var strangeRows: [String]
    package var modelOrigin: String
    /// Whether the store keeps no model by which another one could be refused.
    package var hasNoOwnModel: Bool
    package var frameworkVersion: Int64?
    /// Whether Pippin made the store.
    package var isOurs: Bool
    /// Why there are no metadata; nil if there are.
    package var missingMetadata: String?
    /// The properties of the model that could not be read, in words.
    package var losses: [String]
    package var history: (changes: Int64, transactions: Int64)?
    package var configurations: [String]
    /// The parts of the model that were not found in the store, in words.
    package var findings: [String]
    /// The values in external files; nil for a store that keeps everything itself.
    package var external: ExternalDataSummary?
    /// Every entity, each followed by its subentities.
    package var entities: [Entity]

    package init(_ store: OpenedStore) throws {
        fileName = store.original.lastPathComponent
        uuid = store.facts.uuid
        byteCount = Self.size(store.original.path)
        logByteCount = Self.size(store.original.path + "-wal")
        logGap = store.facts.kind == .sqlite ? UnreadLog.text(of: store.original) : nil
        strangeRows = try store.strangeRows()
        modelOrigin = store.modelOrigin
        hasNoOwnModel = store.facts.kind == .sqlite && store.facts.modelCache == nil
        frameworkVersion = store.facts.metadata["NSPersistenceFrameworkVersion"]?.integerValue
        isOurs = store.facts.metadata["PippinVersionHashes"] != nil
        missingMetadata = store.facts.missingMetadata
        losses = store.document.losses.map(\.text)
        history = store.facts.history
        external = try store.externalData()
        configurations = store.document.configurations.keys.sorted()
        var counts: [String: Int] = [:]
        let found = store.store.engine.inspection?.findings ?? []
        findings = found.map(\.text)
        let tableless = Set(found.filter { $0.property == nil }.map(\.entity))
        for entity in store.layout.entities where !tableless.contains(entity.root.name) {
            counts[entity.name] = try store.objects.count(of: entity)
        }
        entities = store.layout.entities.compactMap { entity in
            guard let document = store.document.entity(named: entity.name) else { return nil }
            var depth = 0
            var ancestor = entity.superentity
            while let current = ancestor {
                depth += 1
                ancestor = current.superentity
            }
            let total = entity.selfAndSubentities.reduce(0) { $0 + (counts[$1.name] ?? 0) }
            return Entity(document: document, depth: depth, count: counts[entity.name] ?? 0, totalCount: total)
        }
    }

    private static func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
