import Pippin
import TestSupport
import Testing

private struct Tally: CoreModel, Equatable {
    let id: String
    var count: Int
}

@Suite("The first save of a block, while others save the same model", .ownThread)
struct FirstSaveTests {
    private let counter: Counter
    private let other: PersistenceManager

    init() throws {
        counter = try Counter(Tally.self)
        other = PersistenceManager(models: Tally.self, store: .file(counter.file))
        try other.loadAndWait()
    }

    private func saveElsewhere(_ tallies: Tally...) throws {
        try elsewhere { [other] in try other.writeAndWait { try $0.save(tallies) } }
    }

    private func tallies() throws -> [Tally] {
        try other.readAndWait { try $0.fetch(Tally.self, sortedBy: .ascending(\.id)) }
    }

    @Test("inserts no model that is stored by then, also where the block inserts others after it")
    func insertion() throws {
        let error = #expect(throws: PersistenceError.self) {
            try counter.manager.writeAndWait { store in
                try store.insert(Tally(id: "a", count: 100))
                try saveElsewhere(Tally(id: "a", count: 10))
                try store.insert(Tally(id: "b", count: 1))
            }
        }
        #expect(error?.code == .alreadyStored)
        #expect(try tallies() == [Tally(id: "a", count: 10)])
    }

    @Test("brings back no model that is deleted by then, also where the block changes others after it")
    func change() throws {
        try saveElsewhere(Tally(id: "a", count: 1), Tally(id: "b", count: 1))
        let error = #expect(throws: PersistenceError.self) {
            try counter.manager.writeAndWait { store in
                try store.update(Tally(id: "a", count: 100))
                try elsewhere { [other] in try other.writeAndWait { _ = try $0.delete(Tally.self, id: "a") } }
                try store.update(Tally(id: "b", count: 2))
            }
        }
        #expect(error?.code == .notFound)
        #expect(try tallies() == [Tally(id: "b", count: 1)])
    }

    @Test("counts although it changed nothing, where the block then reads what others saved")
    func unchanged() throws {
        try saveElsewhere(Tally(id: "a", count: 100), Tally(id: "b", count: 1))
        try counter.manager.writeAndWait { store in
            try store.save(Tally(id: "a", count: 100))
            try saveElsewhere(Tally(id: "a", count: 10), Tally(id: "b", count: 7))
            #expect(try store.find(Tally.self, id: "b")?.count == 7)
        }
        #expect(try tallies().map(\.count) == [100, 7])
    }
}
