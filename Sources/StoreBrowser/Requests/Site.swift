import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// The facts that every page needs: the address of the pages, the name of the store, and what is allowed.
struct Site: Sendable {
    /// The secret, which begins every address.
    let token: String
    let storeName: String
    let isWritable: Bool
    /// Whether files are imported.
    var takesFiles = false
    /// The change that can be undone; nil for none.
    var undoable: DoneChange?

    /// The address of a page.
    func link(_ path: [String], _ query: [(String, String?)] = []) -> String {
        "/" + Address.relative([token] + path, query)
    }

    func link(to entity: EntityLayout) -> String { link(["entity", entity.name]) }

    func link(to identifier: NSManagedObjectID) -> String {
        link(["object", identifier.layout.name, String(identifier.key)])
    }
}

extension DirectStore {
    /// The object that an address or a typed text names.
    ///
    /// The entities of a hierarchy share their numbers, so that a number may be that of an object of another one.
    ///
    /// - Parameters:
    ///   - identifier: the entity and the number.
    ///   - engine: the engine of the store.
    /// - Returns: nil if the object is not there, or is of another entity.
    /// - Throws: what reading throws.
    func namedRow(_ identifier: NSManagedObjectID, _ engine: any StoreEngine) throws -> Row? {
        let row = try engine.row(for: self.identifier(identifier.layout.root, identifier.key))
        return row.flatMap { $0.objectID.layout.isKind(of: identifier.layout) ? $0 : nil }
    }

    /// The same, asked alone.
    func namedRow(_ identifier: NSManagedObjectID) throws -> Row? { try asking { try namedRow(identifier, $0) } }
}
