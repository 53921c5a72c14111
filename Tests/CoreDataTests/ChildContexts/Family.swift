import CoreData
import TestSupport
import Testing

/// A store in a file, a private context that saves to it, and contexts below that.
final class Family: @unchecked Sendable {
    // @unchecked Sendable: set up once; the contexts are used on their queues.
    let folder: TestFolder
    let container: NSPersistentContainer
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"))
        parent = container.newBackgroundContext()
        child = Family.child(of: parent)
    }

    static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        return child
    }

    /// What the store's file has, by plain SQL.
    func column(_ sql: String) throws -> [String] {
        try plainSQL(sql, in: folder.file("library.sqlite"))
    }
}
