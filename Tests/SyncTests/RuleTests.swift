import Foundation
import PippinPostgres
import PippinSync
import PostgresServer
import Synchronization
import TestSupport
import Testing

/// How often closures ran.
private let runs = Mutex<[String: Int]>([:])
/// A device's file, and whether it had noted closures when they ran.
private let watched = Mutex<(file: URL?, noted: [Int64])>((nil, []))

private let noted = "SELECT COUNT(*) FROM PIPPIN_NOTES WHERE ZNAME = 'sync/device/closures'"

private struct Note: CoreModel, Equatable {
    let id: String
    var text: String
    var color = "white"
    var stock = 0
    var author: Author?
    var labels: [Label] = []

    static var schema: Schema<Note> {
        Schema(
            .merge { old, mine, theirs in
                runs.withLock { $0[mine.id, default: 0] += 1 }
                watched.withLock { watched in
                    if let file = watched.file { watched.noted.append((try? plainNumber(noted, in: file)) ?? -1) }
                }
                var merged = theirs
                merged.text = "\(old?.text ?? "-") \(theirs.text) \(mine.text) by \(mine.author?.name ?? "nobody")"
                merged.text += " " + mine.labels.map(\.id).joined(separator: "+")
                if mine.text == "other" { return Note(id: "elsewhere", text: "elsewhere") }
                return merged
            }, .merge(\.stock, .sum), .owns(\.labels))
    }
}

private struct Label: CoreModel, Equatable {
    let id: String
}

private struct Author: CoreModel, Equatable {
    let id: String
    var name: String

    static var schema: Schema<Author> {
        Schema(
            .unique(\.name, whenTaken: .rename { $0.name += "+" }), .merge { $2.id == "never" ? $1 : $2 })
    }
}

private struct Stubborn: CoreModel, Equatable {
    let id: String
    var place: String

    static var schema: Schema<Stubborn> { Schema(.unique(\.place, whenTaken: .rename { $0.place += "" })) }
}

private struct Plain: CoreModel {
    let id: String
    var count = 0

    static var schema: Schema<Plain> { Schema(.merge(\.count, .union)) }
}

@Suite("Closures of a schema", .ownThread, .serialized)
struct RuleTests {
    private let folder: TestFolder
    private let server: StoreLocation

    init() throws { try self.init(server: nil) }

    private init(server: StoreLocation?) throws {
        runs.withLock { $0 = [:] }
        folder = try TestFolder()
        self.server = server ?? .file(folder.url.appendingPathComponent("server.sqlite"), keepsHistory: .always)
    }

    @Test("do the same with a PostgreSQL server", .needsPostgres)
    func onPostgres() async throws {
        for test in [Self.merge, Self.merging, Self.rename, Self.stubborn, Self.notes, Self.otherModel] {
            let database = try TestDatabase()
            try await test(Self(server: .postgres(database.uri(), keepsHistory: .always)))()
        }
    }

    private func device(_ name: String) throws -> (manager: PersistenceManager, sync: StoreSync) {
        let manager = PersistenceManager(
            models: Note.self, Stubborn.self,
            store: .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always))
        return (manager, try StoreSync(manager, server, isLive: false))
    }

    private func settle(_ devices: (manager: PersistenceManager, sync: StoreSync)...) async throws {
        for _ in 0..<3 { for device in devices { try await device.sync.finish() } }
    }

    @Test("merge a model that two devices have changed, with the models within it, once")
    func merge() async throws {
        let (one, two) = (try device("one"), try device("two"))
        var note = Note(id: "merged", text: "old")
        note.author = Author(id: "a", name: "Ann")
        note.labels = [Label(id: "l1"), Label(id: "l2")]
        try await one.manager.save(note)
        try await settle(one, two)
        try await one.manager.update(Note.self, where: \.id == "merged") { change in
            change.set(\.text, to: "first")
            change.set(\.stock, to: 2)
        }
        try await two.manager.update(Note.self, where: \.id == "merged") { change in
            change.set(\.text, to: "second")
            change.set(\.stock, to: 3)
        }
        try await settle(one, two)
        let merged = try #require(try await one.manager.find(Note.self, id: "merged"))
        #expect(merged.text == "old first second by Ann l1+l2" && merged.stock == 5 && merged.labels.count == 2)
        #expect(try await two.manager.find(Note.self, id: "merged") == merged)
        #expect(runs.withLock { $0["merged"] } == 1)
        // What differs in other properties needs no closure.
        try await one.manager.update(Note.self, where: \.id == "merged") { $0.set(\.color, to: "red") }
        try await two.manager.update(Note.self, where: \.id == "merged") { $0.set(\.stock, to: 9) }
        try await settle(one, two)
        #expect(runs.withLock { $0["merged"] } == 1)
        await one.sync.stop()
        await two.sync.stop()
    }

    @Test("merge models of one identifier that two devices have made, and give such a closure no former model")
    func merging() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try await settle(one, two)
        try await one.manager.save(Note(id: "made", text: "first"))
        try await two.manager.save(Note(id: "made", text: "second"))
        try await settle(one, two)
        #expect(try await one.manager.find(Note.self, id: "made")?.text == "- first second by nobody ")
        #expect(try await two.manager.find(Note.self, id: "made")?.text == "- first second by nobody ")
        await one.sync.stop()
        await two.sync.stop()
    }

    @Test("rename a model whose value is taken, and again while the new one is taken")
    func rename() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try await one.manager.save([Author(id: "a", name: "Ann"), Author(id: "b", name: "Ann+")])
        var note = Note(id: "n", text: "")
        note.author = Author(id: "c", name: "Ann")
        try await two.manager.save(note)
        try await settle(one, two)
        for device in [one, two] {
            let authors = try await device.manager.fetch(Author.self, sortedBy: .ascending(\.id))
            #expect(authors.map(\.name) == ["Ann", "Ann+", "Ann++"])
            #expect(try await device.manager.find(Note.self, id: "n")?.author?.id == "c")
            #expect(try await device.sync.refused().isEmpty)
        }
        await one.sync.stop()
        await two.sync.stop()
    }

    @Test("leave a model in the journal that they do not give another value")
    func stubborn() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try await one.manager.save(Stubborn(id: "a", place: "door"))
        try await two.manager.save(Stubborn(id: "b", place: "door"))
        try await settle(one, two)
        #expect(
            try await two.sync.refused().map(\.reason) == [.valueIsTaken(properties: ["place"], by: "a")])
        #expect(try await two.manager.fetch(Stubborn.self).map(\.id) == ["a"])
        await one.sync.stop()
        await two.sync.stop()
    }

    @Test("are noted in the store before they run, and are not asked a third time after they ended the program twice")
    func notes() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try await one.manager.save([Note(id: "noted", text: "old"), Note(id: "poison", text: "old")])
        try await settle(one, two)
        let file = folder.url.appendingPathComponent("two.sqlite")
        for (device, text) in [(one, "first"), (two, "second")] {
            try await device.manager.update(Note.self, where: \.id == "noted") { $0.set(\.text, to: text) }
            try await Task.sleep(for: .milliseconds(5))
        }
        watched.withLock { $0 = (file, []) }
        try await settle(one, two)
        #expect(watched.withLock { $0.noted } == [1])
        watched.withLock { $0 = (nil, []) }
        #expect(try plainNumber(noted, in: file) == 0)
        for (device, text) in [(one, "first"), (two, "second")] {
            try await device.manager.update(Note.self, where: \.id == "poison") { $0.set(\.text, to: text) }
            try await Task.sleep(for: .milliseconds(5))
        }
        try execute(
            "INSERT INTO PIPPIN_NOTES (ZNAME, ZNOTE) VALUES ('sync/device/closures', "
                + "'[{\"id\":{\"entity\":\"Note\",\"key\":\"poison\"},\"count\":2}]')", in: file)
        try await settle(one, two)
        #expect(runs.withLock { $0["poison"] } == nil)
        // The later edit stays, as far as clocks tell which one that is.
        let text = try await one.manager.find(Note.self, id: "poison")?.text
        #expect(text == "first" || text == "second")
        #expect(try await two.manager.find(Note.self, id: "poison")?.text == text)
        await one.sync.stop()
        await two.sync.stop()
    }

    @Test("keep the model's identifier, whatever they make")
    func otherModel() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try await one.manager.save(Note(id: "o", text: "old"))
        try await settle(one, two)
        try await one.manager.update(Note.self, where: \.id == "o") { $0.set(\.text, to: "first") }
        try await two.manager.update(Note.self, where: \.id == "o") { $0.set(\.text, to: "other") }
        try await settle(one, two)
        #expect(try await one.manager.fetch(Note.self).map(\.id) == ["o"])
        #expect(try await two.manager.find(Note.self, id: "o") == one.manager.find(Note.self, id: "o"))
        await one.sync.stop()
        await two.sync.stop()
    }

    @Test("are named where they do not fit: a set's rule for a number")
    func noSet() async throws {
        let manager = PersistenceManager(
            models: Plain.self, store: .file(folder.url.appendingPathComponent("plain.sqlite"), keepsHistory: .always))
        let error = #expect(throws: SyncError.self) { try StoreSync(manager, server, isLive: false) }
        #expect(error?.code == .model && error?.description.contains("“count”") == true)
    }
}
