import Foundation

/// Copies all objects of one store into another, which must be new.
struct StoreCopy {
    let source: NSPersistentStore
    let destination: NSPersistentStore
    let model: ModelLayout
    /// The entities that the destination shall hold.
    let entities: [EntityLayout]
    /// Whether objects keep their keys, so that their IDs stay valid.
    let keepsKeys: Bool
    /// What the source lacks, and the copy does not get.
    let missing: MissingParts

    /// - Throws: 134020 for a source that lacks a part of its model, unless it was opened by a tool that says so.
    init(
        source: NSPersistentStore, destination: NSPersistentStore, model: ModelLayout, entities: [EntityLayout],
        keepsKeys: Bool
    ) throws {
        (self.source, self.destination, self.model) = (source, destination, model)
        (self.entities, self.keepsKeys) = (entities, keepsKeys)
        missing = MissingParts(source.engine.inspection?.findings ?? [])
        guard let first = missing.findings.first,
            !StoreSettings.flag(source.options, StoreSettings.isCopiedOption)
        else { return }
        throw first.error("The store cannot be copied as a whole", url: source.url)
    }

    /// The root entities whose objects are copied.
    var roots: [EntityLayout] { entities.filter { $0.superentity == nil && missing.hasTable($0) } }

    /// Copies everything in one transaction of the destination. Others may save meanwhile, so all is read in one state
    /// of the source, as far as its engine can do that.
    ///
    /// - Throws: 133021 for values that must be unique and are not, and the errors of the stores; the destination is
    ///   then empty.
    func run() throws {
        do {
            let engine = source.engine
            if try engine.readingOneState(copy) { return }
            guard let pinning = engine.pinning, let generation = try pinning.pinGeneration() else { return try copy() }
            let former = pinning.readGeneration
            pinning.readGeneration = generation
            defer { pinning.readGeneration = former }
            try copy()
        } catch let refusal as SaveRefusal { throw error(refusal) }
    }

    private func error(_ refusal: SaveRefusal) -> NSError {
        guard case .constraints(let violations) = refusal, let first = violations.first else {
            return StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "Objects of “\(source.url?.lastPathComponent ?? "")” were changed while they were copied.",
                url: source.url, suggestion: "Try again.")
        }
        return sharing(first.constraint, first.conflicting + (first.stored.map { [$0.objectID] } ?? []))
    }

    /// 133021: objects have the same values of a constraint.
    func sharing(_ constraint: [String], _ objects: [NSManagedObjectID]) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectConstraintMerge,
            "Objects have the same unique values of \(constraint.joined(separator: ", ")): "
                + "\(objects.map { $0.uriRepresentation().absoluteString }.joined(separator: ", ")).",
            url: source.url, suggestion: "Change or delete all but one of them first.")
    }

    private func copy() throws {
        if keepsKeys, let long = destination.engine.longTransactions {
            return try PortionedCopy(self, long).run()
        }
        let rows = try roots.flatMap { root in
            missing.removed(from: try source.engine.fetchRows(FetchPlan(entity: root)))
        }
        let identifiers = try makeIdentifiers(for: rows)
        var changes = ChangeSet()
        changes.inserted = zip(rows, try destinations(of: rows)).map { change($0, to: $1, identifiers) }
        guard !changes.isEmpty else { return try destination.saveMetadata() }
        _ = try destination.engine.save(changes)
    }

    /// The new ID of each object.
    private func makeIdentifiers(for rows: [Row]) throws -> [NSManagedObjectID: NSManagedObjectID] {
        guard keepsKeys else {
            let made = try destination.engine.makePermanentIdentifiers(
                for: rows.map(\.objectID.layout), isSavedLater: false)
            return Dictionary(zip(rows.map(\.objectID), made), uniquingKeysWith: { first, _ in first })
        }
        // The destination must continue after the highest key of each table.
        let highest = Dictionary(grouping: rows.map(\.objectID), by: { ObjectIdentifier($0.layout.root) })
        for identifiers in highest.values {
            guard let root = identifiers.first?.layout.root, let last = identifiers.map(\.key).max() else { continue }
            try destination.engine.keys?.reserveKeys(upTo: last, of: root)
        }
        return [:]
    }

    /// The destinations of each row's to-many relationships, a list for each of them.
    private func destinations(of rows: [Row]) throws -> [[[NSManagedObjectID]]] {
        var found: [[[NSManagedObjectID]]] = Array(repeating: [], count: rows.count)
        for positions in Dictionary(grouping: rows.indices, by: { ObjectIdentifier(rows[$0].objectID.layout) }).values {
            let identifiers = positions.map { rows[$0].objectID }
            for relationship in identifiers[0].layout.toManys where !relationship.isTransient {
                let lists =
                    missing.has(relationship)
                    ? try source.engine.destinations(of: relationship, for: identifiers)
                    : Array(repeating: [], count: identifiers.count)
                for (position, list) in zip(positions, lists) { found[position].append(list) }
            }
        }
        return found
    }

    private func change(
        _ row: Row, to destinations: [[NSManagedObjectID]], _ identifiers: [NSManagedObjectID: NSManagedObjectID]
    ) -> RowChange {
        func new(_ identifier: NSManagedObjectID) -> NSManagedObjectID? {
            keepsKeys ? identifier : identifiers[identifier]
        }
        let layout = row.objectID.layout
        var values = row.values
        for relationship in layout.toOnes {
            guard case .identifier(let target) = values[relationship.slot] else { continue }
            values[relationship.slot] = new(target).map(StoredValue.identifier) ?? .null
        }
        let toManys = zip(layout.toManys.filter { !$0.isTransient }, destinations).map { relationship, list in
            let targets = list.compactMap(new)
            return ToManyChange(
                relationship: relationship, added: targets, removed: [], order: relationship.isOrdered ? targets : nil)
        }
        // If objects keep their IDs, they also keep their versions, so that contexts can continue to use them.
        return RowChange(
            objectID: new(row.objectID) ?? row.objectID, version: keepsKeys ? max(row.version, 1) - 1 : 0,
            values: values,
            changedSlots: [], toManyChanges: toManys.filter { !$0.added.isEmpty })
    }
}

/// The parts of a store that its model names, and whose tables or columns are not there.
struct MissingParts {
    let findings: [SchemaFinding]

    init(_ findings: [SchemaFinding]) { self.findings = findings }

    /// Whether the objects of a root entity can be read.
    func hasTable(_ root: EntityLayout) -> Bool { !findings.contains { $0.property == nil && $0.entity == root.name } }

    /// Whether the destinations of a to-many relationship can be read.
    func has(_ relationship: RelationshipLayout) -> Bool {
        if findings.isEmpty { return true }
        return hasTable(relationship.destination.root)
            && !findings.contains { $0.property == relationship.name && $0.entity == relationship.source.name }
    }

    /// Rows without the values of the parts.
    func removed(from rows: ContiguousArray<Row>) -> ContiguousArray<Row> {
        if findings.isEmpty { return rows }
        var slots: [ObjectIdentifier: [Int]] = [:]
        return ContiguousArray(
            rows.map { row in
                let layout = row.objectID.layout
                let known = slots[ObjectIdentifier(layout)] ?? self.slots(of: layout)
                slots[ObjectIdentifier(layout)] = known
                var values = row.values
                for slot in known { values[slot] = .null }
                return Row(objectID: row.objectID, version: row.version, values: values)
            })
    }

    /// The slots of an entity's rows that have no column.
    private func slots(of layout: EntityLayout) -> [Int] {
        findings.compactMap { finding in
            let lineage = sequence(first: layout, next: \.superentity)
            guard let property = finding.property, lineage.contains(where: { $0.name == finding.entity }) else {
                return nil
            }
            return layout.slotIndex(forName: property)
        }
    }
}
