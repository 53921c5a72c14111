import CoreData
import HTTPMessages
import StoreReading

/// The facts that every page needs: the address of the pages, the name of the store, and what is allowed.
struct Site: Sendable {
    /// The secret, which begins every address.
    let token: String
    let storeName: String
    let isWritable: Bool
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
