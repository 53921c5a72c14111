import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Finds the model of a store's version.
package enum SourceModel {
    /// The store's own copy of its model, or a version of the models in the bundles with the store's hashes. If neither
    /// is available, a version with the store's tables: in the destination's package, or in the bundles.
    ///
    /// - Throws: 134130 if there is none.
    package static func find(_ file: StoreFile, near destination: NSManagedObjectModel?) throws -> NSManagedObjectModel
    {
        try file.readingOneState("read the model of") { try found(file, near: destination) }
    }

    private static func found(_ file: StoreFile, near destination: NSManagedObjectModel?) throws -> NSManagedObjectModel
    {
        let metadata = try file.metadata()
        let isApples = metadata[StoreMetadata.ownHashesKey] == nil
        let copy = try file.cachedModel()
        // Properties that are missing from an incomplete copy would be lost.
        if let copy, copy.unreadProperties.isEmpty {
            let other = try file.hasTables(of: copy) ? nil : replaced(copy, in: file, metadata, near: destination)
            if let other { return other }
            // Our own hashes are computed again; Apple's are only in the metadata.
            if isApples { copy.recordVersionHashes(StoreMetadata.hashes(in: metadata)) }
            return copy
        }
        let versions = NSManagedObjectModel.versions(near: destination)
        if let model = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata) { return model }
        var claimed: [String] = []
        if copy == nil, let model = try withTables(of: file, among: versions, near: destination, &claimed) {
            return model
        }
        throw MigrationError.missingSourceModel(
            url: file.url, metadata: metadata, unread: copy?.unreadProperties ?? [], claimed: claimed)
    }

    /// The version that the store is of where its tables are not those of its copy: another program has migrated it,
    /// and left the copy behind.
    private static func replaced(
        _ copy: NSManagedObjectModel, in file: StoreFile, _ metadata: [String: Any],
        near destination: NSManagedObjectModel?
    ) throws -> NSManagedObjectModel? {
        let versions = NSManagedObjectModel.versions(near: destination)
        if let model = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata),
            try file.hasTables(of: model)
        {
            return model
        }
        return try versions.first { try file.hasTables(of: $0) }
    }

    /// The version with exactly the store's tables; if there is none, the one beside whose tables the store has the
    /// fewest join tables, which are left alone.
    ///
    /// A version is left out if pairs in such a table may be those of a relationship that the destination has and the
    /// version does not: the store is of a version in between then, and its pairs would be lost.
    ///
    /// - Parameters:
    ///   - file: the store.
    ///   - versions: the versions to choose from.
    ///   - destination: the model to migrate to.
    ///   - claimed: the join tables for which versions were none are added.
    /// - Returns: nil if there is none.
    /// - Throws: SQLite's errors.
    private static func withTables(
        of file: StoreFile, among versions: [NSManagedObjectModel], near destination: NSManagedObjectModel?,
        _ claimed: inout [String]
    ) throws -> NSManagedObjectModel? {
        var best: (model: NSManagedObjectModel, left: Int)?
        for model in versions {
            guard let left = try file.leftJoinTables(of: model), left.count < best?.left ?? .max else { continue }
            if !left.isEmpty, let destination {
                let kept = try LeftJoinTables(left, of: file, supposing: model).claimed(by: destination)
                claimed += kept.filter { !claimed.contains($0) }
                guard kept.isEmpty else { continue }
            }
            best = (model, left.count)
        }
        return best?.model
    }
}

/// The join tables that a store has beside the tables of a version which it is supposed to be of.
struct LeftJoinTables {
    private let file: StoreFile
    private let model: NSManagedObjectModel
    /// The entities of the version whose keys each table has.
    private let ends: [(table: String, entities: Set<String>)]

    /// - Parameters:
    ///   - tables: the names of the tables.
    ///   - file: the store.
    ///   - model: the version.
    /// - Throws: SQLite's errors.
    init(_ tables: [String], of file: StoreFile, supposing model: NSManagedObjectModel) throws {
        (self.file, self.model) = (file, model)
        let catalog = try file.catalog()
        let names = Dictionary(catalog.numbers(for: model).map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        ends = tables.compactMap { table in
            // `Z_1TAGS` has the columns `Z_1BOOKS` and `Z_2TAGS`, and perhaps others for the order of pairs. The table
            // of an entity with itself has `Z_1FRIENDS` and `REFLEXIVE`.
            let numbers = ([table] + (catalog.tables[table] ?? []).map(\.name)).compactMap(Self.number)
            let entities = Set(numbers).map { names[$0] }
            // Pairs of an entity that the store does not have belong to no relationship.
            guard !entities.contains(nil) else { return nil }
            return (table, Set(entities.compactMap { $0 }))
        }
    }

    /// The number in a name like `Z_2TAGS`.
    private static func number(in name: String) -> Int? {
        name.hasPrefix("Z_") ? Int(name.dropFirst(2).prefix { $0.isASCII && $0.isNumber }) : nil
    }

    /// The tables with pairs that may be those of a relationship which a later version has, and this one does not.
    func claimed(by destination: NSManagedObjectModel) throws -> [String] {
        let names = ModelCorrespondence(from: model, to: destination)
        let added = destination.entities.flatMap { entity in
            entity.ownProperties.compactMap { $0 as? NSRelationshipDescription }.filter { relationship in
                relationship.isToMany && relationship.inverseRelationship?.isToMany ?? false
                    && !entity.selfAndDescendants.contains {
                        names.properties[$0.name ?? ""]?[relationship.name] != nil
                    }
            }
        }
        return try ends.filter { _, entities in
            let successors = entities.map { names.successors[$0].flatMap { destination.entitiesByName[$0] } }
            return added.contains { Self.leads($0, between: successors) }
        }.map(\.table).filter(hasPairs)
    }

    /// Whether a relationship may be one between entities: some of its objects are of each, and both ends are theirs.
    private static func leads(
        _ relationship: NSRelationshipDescription, between entities: [NSEntityDescription?]
    ) -> Bool {
        guard let other = relationship.destinationEntity else { return false }
        func isRelated(_ one: NSEntityDescription, _ other: NSEntityDescription) -> Bool {
            one.isKindOf(entity: other) || other.isKindOf(entity: one)
        }
        let ends = [relationship.entity, other]
        let known = entities.compactMap { $0 }
        return known.count == entities.count
            && known.allSatisfy { entity in ends.contains { isRelated($0, entity) } }
            && ends.allSatisfy { end in known.contains { isRelated($0, end) } }
    }

    private func hasPairs(_ table: String) throws -> Bool {
        try file.run("read the tables of") {
            try file.connection.integer(CheckSQL.rows(of: table).sqlite.text) != nil
        }
    }
}
