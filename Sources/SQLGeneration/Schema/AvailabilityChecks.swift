import CoreDataModel
import StoreEngine

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
