import Pippin
import Testing

private struct Country: CoreModel, Equatable {
    let id: String
    var name: String
}

private struct Poet: CoreModel, Equatable {
    let id: String
    var name: String
    var tags: Set<String> = []
    var country: Country?
}

private struct Poem: CoreModel, Equatable {
    let id: String
    var poet: Poet?
}

@Suite("Copies of one model in a save")
struct CopiesTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Poem.self) }

    private func austen(_ name: String = "Jane Austen, of Steventon in Hampshire") -> Poet {
        Poet(
            id: "austen", name: name, tags: ["letters", "poems", "poems"],
            country: Country(id: "en", name: "The Kingdom of England"))
    }

    @Test("are saved once if they are equal, also if each was made by itself")
    func equal() async throws {
        try await manager.save((0..<20).map { Poem(id: "\($0)", poet: austen()) })
        #expect(try counter.strings("SELECT ZNAME FROM ZPOET") == ["Jane Austen, of Steventon in Hampshire"])
        #expect(try counter.number("SELECT count(*) FROM ZPOEM WHERE ZPOET IS NOT NULL") == 20)
    }

    @Test("are refused if they differ, since the change of one of them would be lost; nothing is saved")
    func different() async throws {
        try await manager.save([Poem(id: "emma", poet: austen()), Poem(id: "persuasion", poet: austen())])
        var poems = try await manager.fetch(Poem.self)
        poems[1].poet?.name = "J. Austen"
        let changed = poems
        let error = await #expect(throws: PersistenceError.self) { try await manager.save(changed) }
        #expect(error?.code == .unwritable)
        #expect(error?.entity == "Poet" && error?.identifier == "austen" && error?.property == "name")
        #expect(try counter.strings("SELECT ZNAME FROM ZPOET") == [austen().name])
        for index in poems.indices { poems[index].poet?.name = "J. Austen" }
        try await manager.save(poems)
        #expect(try counter.strings("SELECT ZNAME FROM ZPOET") == ["J. Austen"])
    }

    @Test("are refused if a model within them differs, or is missing in one of them")
    func deeper() async throws {
        var other = austen()
        other.country?.name = "England"
        let differing = [Poem(id: "emma", poet: austen()), Poem(id: "persuasion", poet: other)]
        let error = await #expect(throws: PersistenceError.self) { try await manager.save(differing) }
        #expect(error?.code == .unwritable && error?.entity == "Country" && error?.property == "name")
        other.country = nil
        let lacking = [Poem(id: "emma", poet: austen()), Poem(id: "persuasion", poet: other)]
        let second = await #expect(throws: PersistenceError.self) { try await manager.save(lacking) }
        #expect(second?.code == .unwritable && second?.entity == "Poet" && second?.property == "country")
        #expect(try counter.number("SELECT count(*) FROM ZPOEM") == 0)
    }

    @Test("may differ in several records of an import: the last record counts", arguments: [1, 2, 500])
    func imported(batchSize: Int) async throws {
        let file = counter.folder.file("poems.csv")
        try Data(
            "id,poet.id,poet.name,poet.tags\nemma,austen,Jane,[]\nlove,austen,J. A.,[]\npersuasion,austen,Jane Austen,[]\n"
                .utf8
        )
        .write(to: file)
        let report = try await manager.importCSV(Poem.self, from: file, batchSize: batchSize)
        #expect(report.inserted == 3 && report.refused.isEmpty)
        #expect(try counter.strings("SELECT ZNAME FROM ZPOET") == ["Jane Austen"])
    }
}
