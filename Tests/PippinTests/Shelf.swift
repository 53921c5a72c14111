import Pippin
import SQLiteConnection

/// A loaded manager over a store in a folder of its own, which goes with it.
final class Shelf: Sendable {
    let folder: URL
    let manager: PersistenceManager

    var file: URL { folder.appendingPathComponent("library.sqlite") }

    /// - Parameter isLoaded: whether the manager is to be loaded already.
    init(isLoaded: Bool = true) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        manager = PersistenceManager(
            model: Library.model(), name: "Library", store: .file(folder.appendingPathComponent("library.sqlite")))
        if isLoaded { try manager.load() }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A number from the store, by plain SQL.
    func number(_ sql: String) throws -> Int64? {
        try Connection(path: file.path, mode: .readOnly).integer(sql)
    }

    /// A column of the store, by plain SQL.
    func strings(_ sql: String) throws -> [String] {
        let statement = try Connection(path: file.path, mode: .readOnly).prepare(sql)
        var strings: [String] = []
        while try statement.step() { strings.append(statement.string(at: 0)) }
        return strings
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
