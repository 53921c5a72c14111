import PippinRecords
import TestSupport

/// A loaded manager over a store in a folder of its own, which goes with it.
final class Shelf: StoreFile, Sendable {
    private let folder: TestFolder
    let manager: PersistenceManager
    var file: URL { folder.file("library.sqlite") }

    /// - Parameter isLoaded: whether the manager is to be loaded already.
    /// - Throws: what loading the manager throws.
    init(isLoaded: Bool = true) throws {
        folder = try TestFolder()
        manager = PersistenceManager(
            model: Library.model(), name: "Library", store: .file(folder.file("library.sqlite")))
        if isLoaded { try manager.loadAndWait() }
    }

    func save(_ people: [Person]) throws {
        try manager.save(entity: PersonRecord.self, models: people, shouldOverwrite: false)
    }
}

extension Person {
    static let ada = Person(uid: "a", name: "Ada", age: 36)
    static let blaise = Person(uid: "b", name: "Blaise", age: 39)
    static let carl = Person(uid: "c", name: "Carl", age: 77)
}
