import StoreEngine

// The store's nodes as rows.
extension NSIncrementalStore {
    func row(for identifier: NSManagedObjectID) throws -> Row? {
        // The store reads an object that it is asked about: what it leaves out is not asked for again meanwhile.
        if let node = unfinished[identifier] { return row(of: node, identifier) { _ in nil } }
        let asking = context()
        return try node(of: identifier, for: asking).map { try row(of: $0, identifier, for: asking) }
    }

    /// The values that the store has of an object; `nil` if it is gone.
    func node(
        of identifier: NSManagedObjectID, for asking: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode? {
        do {
            let node = try newValuesForObject(with: identifier, with: asking)
            savedVersions.noteRead(node.rowVersion, of: identifier)
            return node
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
            return nil
        }
    }

    func row(
        of node: NSIncrementalStoreNode, _ identifier: NSManagedObjectID, for asking: NSManagedObjectContext
    ) throws -> Row {
        let former = unfinished.updateValue(node, forKey: identifier)
        defer { unfinished[identifier] = former }
        return try row(of: node, identifier) {
            try newValue(forRelationship: $0.description, forObjectWith: identifier, with: asking)
        }
    }

    /// A node as a row. `destination` gives the values of to-one relationships that the node leaves out.
    private func row(
        of node: NSIncrementalStoreNode, _ identifier: NSManagedObjectID,
        destination: (RelationshipLayout) throws -> Any?
    ) rethrows -> Row {
        let values = try identifier.layout.slots.map { slot -> StoredValue in
            if slot.isTransient { return .null }
            switch slot.kind {
            case .attribute(let attribute): return StoredValue(node.value(for: slot.description), for: attribute)
            case .toOne(let relationship):
                let value = try node.value(for: slot.description) ?? destination(relationship)
                return NodeValues.identifier(of: value).map(StoredValue.identifier) ?? .null
            }
        }
        return Row(objectID: identifier, version: node.rowVersion, values: ContiguousArray(values))
    }
}
