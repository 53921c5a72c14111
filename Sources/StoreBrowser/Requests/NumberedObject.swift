import CoreData
import StoreEngine
import StoreReading

extension DirectStore {
    /// The object that an address or a typed text names.
    ///
    /// The entities of a hierarchy share their numbers, so that a number may be that of an object of another one.
    ///
    /// - Parameters:
    ///   - identifier: the entity and the number.
    ///   - engine: the engine of the store.
    /// - Returns: nil if there is no such object, or if it is of another entity.
    /// - Throws: what reading throws.
    func namedRow(_ identifier: NSManagedObjectID, _ engine: any StoreEngine) throws -> Row? {
        let row = try engine.row(for: self.identifier(identifier.layout.root, identifier.key))
        return row.flatMap { $0.objectID.layout.isKind(of: identifier.layout) ? $0 : nil }
    }

    /// The same, asked alone.
    func namedRow(_ identifier: NSManagedObjectID) throws -> Row? { try asking { try namedRow(identifier, $0) } }
}
