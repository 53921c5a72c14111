import CoreData
import Foundation
import PippinRecords

/// A program in which nobody listens to the notifications of contexts, so that nothing is merged into those that were
/// never used. It is a process of its own, since whoever asks for a notification's name listens for all tests.
package enum UnusedContext {
    /// - Returns: what the view context shows of a note that is saved elsewhere, as a program sees it.
    package static func observe(at url: URL) throws -> [String] {
        let manager = Notes.old(at: url)
        func save(_ text: String) throws {
            try manager.writeAndWait { try $0.save(Notes.V1.Note(uid: 1, text: text)) }
            // The main queue merges.
            RunLoop.main.run(until: Date() + 0.1)
        }
        try save("before it was used")
        let view = manager.container.viewContext
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        guard let note = try view.fetch(request).first else { return ["nothing is there"] }
        func text() -> String { note.value(forKey: "text") as? String ?? "no text" }
        let first = text()
        try save("after it was used")
        let second = text()

        let other = manager.container.newBackgroundContext()
        other.automaticallyMergesChangesFromParent = true
        let fault = other.performAndWait { other.object(with: note.objectID) }
        _ = try manager.writeAndWait { try $0.delete(Notes.V1.Note.self, id: 1) }
        let isDeleted = other.performAndWait { fault.isDeleted }
        return [first, second, isDeleted ? "deleted elsewhere" : "still there"]
    }
}
