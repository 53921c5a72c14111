import CoreData
import HTTPMessages
import StoreReading

/// What every page knows: where the pages are, what the store is called, and what may be done.
struct Site: Sendable {
    /// The secret, which begins every address.
    let token: String
    let storeName: String
    let isWritable: Bool
    /// What could be taken back, in words; nil for nothing.
    var undoable: String?

    /// The address of a page.
    func link(_ path: [String], _ query: [(String, String?)] = []) -> String {
        "/" + Address.relative([token] + path, query)
    }

    func link(to entity: EntityLayout) -> String { link(["entity", entity.name]) }

    func link(to identifier: NSManagedObjectID) -> String {
        link(["object", identifier.layout.name, String(identifier.key)])
    }
}
