import CoreData
import SQLiteConnection
import Testing

/// A store in a file, a private context that saves to it, and contexts below that.
final class Family: @unchecked Sendable {
    // @unchecked Sendable: set up once; the contexts are used on their queues.
    let folder: TemporaryFolder
    let container: NSPersistentContainer
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext

    init() throws {
        folder = try TemporaryFolder()
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
        let connection = try Connection(path: folder.file("library.sqlite").path, mode: .readOnly)
        let statement = try connection.prepare(sql)
        var values: [String] = []
        while try statement.step() { values.append(statement.optionalString(at: 0) ?? "NULL") }
        return values
    }
}
