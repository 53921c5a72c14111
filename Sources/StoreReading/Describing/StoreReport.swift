import CoreData
import Foundation
import ModelFiles
import SQLiteConnection
import SQLiteEngine
import SyncPlanning

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
    /// What cannot be read of a damaged file; nil for an intact one.
    package var damage: String?
    /// The rows that are not objects, in words.
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
    /// How much of a persistent history there is; nil without one.
    package var history: String?
    /// How a store that is kept in step with a server stands; nil for one that is not.
    package var sync: String?
    package var configurations: [String]
    /// The parts of the model that were not found in the store, in words.
    package var findings: [String]
    /// How many values are in external files; nil if there are none.
    package var external: String?
    /// Every entity, each followed by its subentities.
    package var entities: [Entity]

    package init(_ store: OpenedStore) throws {
        fileName = store.original.lastPathComponent
        uuid = store.facts.uuid
        byteCount = Self.size(store.original.path)
        logByteCount = Self.size(store.original.path + "-wal")
        logGap = store.facts.kind == .sqlite ? UnreadLog.text(of: store.original) : nil
        damage = store.damage
        strangeRows = try store.strangeRows()
        modelOrigin = store.modelOrigin
        hasNoOwnModel = store.facts.kind == .sqlite && store.facts.modelCache == nil
        frameworkVersion = store.facts.metadata["NSPersistenceFrameworkVersion"]?.integerValue
        isOurs = store.facts.metadata["PippinVersionHashes"] != nil
        missingMetadata = store.facts.missingMetadata
        losses = store.document.losses.map(\.text)
        history = try Self.fact { try Self.history(of: store) }
        sync = try Self.fact { try Self.sync(of: store) }
        external = try store.externalData().flatMap(Self.text)
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

    private static func history(of store: OpenedStore) throws -> String? {
        guard store.facts.hasHistory else { return nil }
        let counts = try RawStoreFile.forReading(store.copy.url).historyCounts()
        let transactions = TextTools.count(Int(counts.transactions), "transaction")
        return "\(TextTools.count(Int(counts.changes), "change")) in \(transactions)"
    }

    /// `server's transaction 42; 3 transactions wait; 1 change was refused`
    private static func sync(of store: OpenedStore) throws -> String? {
        guard store.facts.kind == .sqlite else { return nil }
        let file = try RawStoreFile.forReading(store.copy.url)
        guard let note = try file.note(SyncNote.cursor) else {
            let devices = try file.noteCount(beginningWith: SyncNote.devices)
            return devices == 0 ? nil : "a server of \(TextTools.count(devices, "device"))"
        }
        let summary: DeviceSummary
        do { summary = try JSONDecoder().decode(DevicePosition.self, from: note).summary } catch {
            return "damaged: what the store keeps of its sync cannot be read"
        }
        let pending =
            summary.waiting + Int(try file.transactions(after: summary.captured, notNamed: SyncNote.context + " "))
        let refused = try file.noteCount(beginningWith: SyncNote.journal)
        return "at the server's transaction \(summary.cursor), \(pending) pending, \(refused) refused"
    }

    /// `1,746 values in files, 2 of them missing; 32 files that nothing refers to`; nil if there are none.
    private static func text(of external: ExternalDataSummary) -> String? {
        var text = external.values == 0 ? [] : [TextTools.count(external.values, "value") + " in files"]
        if external.missing > 0 { text[0] += ", \(TextTools.grouped(Int64(external.missing))) of them missing" }
        if external.orphans > 0 { text.append(TextTools.count(external.orphans, "file") + " that nothing refers to") }
        return text.isEmpty ? nil : text.joined(separator: "; ")
    }

    /// A fact in words, or that it is damaged: the objects may be intact all the same.
    private static func fact(_ body: () throws -> String?) throws -> String? {
        do { return try body() } catch let error as SQLiteError where error.isCorrupt {
            return "damaged: \(error.message). \(StoreRepair.advice)"
        }
    }

    private static func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
