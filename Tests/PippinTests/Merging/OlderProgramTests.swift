import Foundation
import TestSupport
import Testing

@testable import Pippin

/// What a newer version of a program keeps.
private enum Newer {
    struct Step: Codable, Equatable {
        var text: String
        var minutes: Int?
        var tools: [Tool] = []
    }
    struct Tool: Codable, Equatable {
        var id: Int
        var name: String
        var size: Double?
    }
    enum Heat: Codable, Equatable {
        case oven(degrees: Int, fan: Bool? = nil)
        case pan
        case grill(bars: Int)
    }
    struct Box: Codable, Equatable {
        var label: String
        var notes: [Step]
    }
    struct Recipe: CoreModel, Equatable {
        let id: Int
        var title: String
        var steps: [Step] = []
        var parts: [String: Step] = [:]
        var places: [Int: Step] = [:]
        var heat: Heat = .pan
        var box = Box(label: "box", notes: [])
        var counts: [Int] = []
    }
}

/// What an older version knows of it.
private enum Older {
    struct Step: Codable, Equatable {
        var text: String
        var tools: [Tool] = []
    }
    struct Tool: Codable, Equatable {
        var id: Int
        var name: String
    }
    enum Heat: Codable, Equatable {
        case oven(degrees: Int)
        case pan
    }
    struct Box: Codable, Equatable {
        var label: String
        var notes: [Step]
    }
    struct Recipe: CoreModel, Equatable {
        let id: Int
        var title: String
        var steps: [Step] = []
        var parts: [String: Step] = [:]
        var places: [Int: Step] = [:]
        var heat: Heat = .pan
        var box = Box(label: "box", notes: [])
        var counts: Set<Int> = []
    }
}

/// The same recipes with lists of numbers that have a fraction.
private struct MeasuredRecipe: CoreModel {
    let id: Int
    var title: String
    var counts: [Double]
    static var schema: Schema<MeasuredRecipe> { Schema(name: "Count") }
}

private struct CountedRecipe: CoreModel, Equatable {
    let id: Int
    var title: String
    var counts: [Int]
    static var schema: Schema<CountedRecipe> { Schema(name: "Count") }
}

private struct MarkedRecipe: CoreModel {
    enum Kind: String, Codable { case cake, soup, stew }
    let id: Int
    var title: String
    var kind: Kind
    static var schema: Schema<MarkedRecipe> { Schema(name: "Marked") }
}

private struct TolerantRecipe: CoreModel {
    /// Which takes what it does not know for a case of its own.
    enum Kind: String, Codable {
        case cake, other
        init(from decoder: any Decoder) throws {
            self = Kind(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }
    let id: Int
    var title: String
    var kind: Kind
    static var schema: Schema<TolerantRecipe> { Schema(name: "Marked") }
}

/// How an older program writes.
enum WayOfWriting: CaseIterable {
    case save, update, objects, replacing, importing, importingLines
}

@Suite("An older program")
struct OlderProgramTests {
    private let folder: TestFolder
    private let newer: PersistenceManager
    private let older: PersistenceManager

    /// A program, which has a store in a file of this test's folder.
    private static func program<Model: CoreModel>(_ model: Model.Type, _ folder: TestFolder, _ name: String)
        -> PersistenceManager
    {
        PersistenceManager(models: model, store: .file(folder.file("\(name).sqlite")))
    }

    private let recipe = Newer.Recipe(
        id: 1, title: "Bread",
        steps: [
            .init(
                text: "Mix", minutes: 5, tools: [.init(id: 1, name: "bowl", size: 2.5), .init(id: 2, name: "spoon")]),
            .init(text: "Bake", minutes: 40),
        ],
        parts: ["dough": .init(text: "Knead", minutes: 9), "top": .init(text: "Brush", minutes: 1)],
        places: [1: .init(text: "Bench", minutes: 2), 2: .init(text: "Oven", minutes: 3)],
        heat: .oven(degrees: 200, fan: true),
        box: Newer.Box(label: "old", notes: [.init(text: "Cool", minutes: 30)]), counts: [3, 1, 1])

    init() async throws {
        folder = try TestFolder()
        newer = Self.program(Newer.Recipe.self, folder, "recipes")
        older = Self.program(Older.Recipe.self, folder, "recipes")
        try await newer.save(recipe)
    }

    /// Changes the recipe with the older program, and returns what the newer one finds.
    private func changed(
        _ way: WayOfWriting = .update, _ change: (inout Older.Recipe) -> Void
    ) async throws -> Newer.Recipe? {
        var recipe = try #require(try await older.find(Older.Recipe.self, id: 1))
        change(&recipe)
        let changed = recipe
        switch way {
        case .save: try await older.save(changed)
        case .update: try await older.write { try $0.update(changed) }
        case .objects:
            try older.writeAndWait { store in
                store.access.change(asRows: false)
                try store.save(changed)
            }
        case .replacing: try await older.write { try $0.replaceAll(with: [changed]) }
        case .importing: try Self.check(await older.importModels([changed]))
        case .importingLines:
            let file = folder.file("recipes.jsonl")
            try JSONEncoder().encode(changed).write(to: file)
            try Self.check(await older.importJSONLines(Older.Recipe.self, from: file))
        }
        return try await newer.find(Newer.Recipe.self, id: 1)
    }

    private static func check(_ report: ImportReport) throws {
        if let refusal = report.refused.first { throw Refused(reason: refusal.reason) }
    }

    private struct Refused: Error { let reason: String }

    @Test("leaves what it does not know in a property that it has not changed", arguments: WayOfWriting.allCases)
    func otherProperty(way: WayOfWriting) async throws {
        var expected = recipe
        expected.title = "Loaf"
        #expect(try await changed(way) { $0.title = "Loaf" } == expected)
    }

    @Test("leaves it in an element of a list of which it changes another member", arguments: WayOfWriting.allCases)
    func element(way: WayOfWriting) async throws {
        var expected = recipe
        expected.steps[0].text = "Mix well"
        expected.steps[0].tools.removeLast()
        expected.steps[0].tools[0].name = "big bowl"
        expected.steps.append(.init(text: "Eat"))
        let found = try await changed(way) { recipe in
            recipe.steps[0].text = "Mix well"
            recipe.steps[0].tools.removeLast()
            recipe.steps[0].tools[0].name = "big bowl"
            recipe.steps.append(.init(text: "Eat"))
        }
        #expect(found == expected)
    }

    @Test("leaves it in the values of a dictionary", arguments: WayOfWriting.allCases)
    func dictionary(way: WayOfWriting) async throws {
        var expected = recipe
        expected.parts["dough"]?.text = "Fold"
        expected.parts["top"] = nil
        expected.parts["side"] = .init(text: "Cut")
        expected.places[2]?.text = "Stove"
        let found = try await changed(way) { recipe in
            recipe.parts["dough"]?.text = "Fold"
            recipe.parts["top"] = nil
            recipe.parts["side"] = .init(text: "Cut")
            recipe.places[2]?.text = "Stove"
        }
        #expect(found == expected)
    }

    @Test("leaves it in a list within a nested struct", arguments: WayOfWriting.allCases)
    func nested(way: WayOfWriting) async throws {
        var expected = recipe
        expected.box.label = "new"
        #expect(try await changed(way) { $0.box.label = "new" } == expected)
        expected.box.notes[0].text = "Cool down"
        #expect(try await changed(way) { $0.box.notes[0].text = "Cool down" } == expected)
    }

    @Test("leaves an associated value that its enumeration lacks", arguments: WayOfWriting.allCases)
    func associatedValue(way: WayOfWriting) async throws {
        var expected = recipe
        expected.heat = .oven(degrees: 180, fan: true)
        #expect(try await changed(way) { $0.heat = .oven(degrees: 180) } == expected)
        expected.heat = .pan
        #expect(try await changed(way) { $0.heat = .pan } == expected)
    }

    @Test("leaves the order and the repetitions of a list that it takes for a set", arguments: WayOfWriting.allCases)
    func set(way: WayOfWriting) async throws {
        var expected = recipe
        expected.counts = [3, 1, 1, 7]
        #expect(try await changed(way) { $0.counts.insert(7) } == expected)
        expected.counts = [3, 7]
        #expect(try await changed(way) { $0.counts.remove(1) } == expected)
    }

    @Test("moves it with the elements that it moves")
    func moved() async throws {
        var expected = recipe
        expected.steps.swapAt(0, 1)
        #expect(try await changed { $0.steps.swapAt(0, 1) } == expected)
    }

    @Test("takes it with an element that it removes")
    func removed() async throws {
        var expected = recipe
        expected.steps.removeFirst()
        #expect(try await changed { $0.steps.removeFirst() } == expected)
    }

    @Test("is refused by name where an element that it has changed cannot be found again")
    func unclear() async throws {
        for way in [WayOfWriting.save, .objects] {
            let error = await #expect(throws: PersistenceError.self) {
                try await changed(way) { $0.steps = [.init(text: "Stir"), .init(text: "Rest"), .init(text: "Fry")] }
            }
            #expect(error?.code == .unwritable && error?.entity == "Recipe" && error?.property == "steps")
            #expect(error?.identifier == "1" && error?.reason?.contains("[0].minutes, [0].tools[0].size") == true)
        }
        let error = await #expect(throws: PersistenceError.self) {
            try await changed { $0.box.notes = [.init(text: "Stir"), .init(text: "Rest")] }
        }
        #expect(error?.property == "box.notes" && error?.reason?.contains("[0].minutes") == true)
        #expect(try await newer.find(Newer.Recipe.self, id: 1) == recipe)
    }

    @Test("does not replace a value that it cannot read; an import refuses the line")
    func unreadable() async throws {
        var grilled = recipe
        grilled.heat = .grill(bars: 4)
        try await newer.save(grilled)
        let blind = Older.Recipe(id: 1, title: "Loaf")
        let error = await #expect(throws: PersistenceError.self) { try await older.save(blind) }
        #expect(error?.code == .unwritable && error?.property == "heat")
        let report = try await older.importModels([blind, Older.Recipe(id: 2, title: "Soup")])
        #expect(report.refused.map(\.position) == [1] && report.inserted == 1)
        #expect(try await newer.find(Newer.Recipe.self, id: 1) == grilled)
        // What is deleted is gone on purpose.
        try await older.write { store in
            try store.delete(Older.Recipe.self, id: 1)
            try store.save(blind)
        }
        #expect(try await newer.find(Newer.Recipe.self, id: 1)?.heat == .pan)
    }

    @Test("merges what it sets in all models of a filter, in a block and outside")
    func settings() async throws {
        var expected = recipe
        expected.steps[1].text = "Fry"
        let steps = [Older.Step(text: "Mix", tools: [.init(id: 1, name: "bowl"), .init(id: 2, name: "spoon")])]
        try await older.update(Older.Recipe.self, where: .all) { $0.set(\.steps, to: steps + [.init(text: "Fry")]) }
        #expect(try await newer.find(Newer.Recipe.self, id: 1) == expected)
        expected.steps[1].text = "Steam"
        expected.box.notes[0].text = "Chill"
        try await older.write { store in
            try store.update(Older.Recipe.self, where: .all) { changes in
                changes.set(\.steps, to: steps + [.init(text: "Steam")])
                changes.set(\.box, to: .init(label: "old", notes: [.init(text: "Chill")]))
            }
        }
        #expect(try await newer.find(Newer.Recipe.self, id: 1) == expected)
        let error = await #expect(throws: PersistenceError.self) {
            try await older.update(Older.Recipe.self, where: .all) { changes in
                changes.set(\.steps, to: [.init(text: "1"), .init(text: "2"), .init(text: "3")])
            }
        }
        #expect(error?.code == .unwritable && error?.property == "steps")
    }

    @Test("writes nothing where it has changed nothing, whatever it does not know")
    func unchanged() async throws {
        let known = try await older.fetch(Older.Recipe.self)
        let report = try await older.importModels(known)
        #expect(report.unchanged == 1 && report.updated == 0)
    }

    @Test("keeps whole numbers that its type cannot hold exactly, beside those that it changes")
    func numbers() async throws {
        let newer = Self.program(CountedRecipe.self, folder, "counts")
        let older = Self.program(MeasuredRecipe.self, folder, "counts")
        var recipe = CountedRecipe(id: 1, title: "Bread", counts: [9_007_199_254_740_993, 2, 5])
        try await newer.save(recipe)
        try await older.write { store in
            var measured = try #require(try store.find(MeasuredRecipe.self, id: 1))
            measured.counts[1] = 4
            try store.update(measured)
        }
        recipe.counts[1] = 4
        #expect(try await newer.find(CountedRecipe.self, id: 1) == recipe)
    }

    @Test("keeps a case that it takes for another one, until it sets one")
    func tolerantCase() async throws {
        let newer = Self.program(MarkedRecipe.self, folder, "kinds")
        let older = Self.program(TolerantRecipe.self, folder, "kinds")
        try await newer.save(MarkedRecipe(id: 1, title: "Broth", kind: .soup))
        try await older.write { store in
            var recipe = try #require(try store.find(TolerantRecipe.self, id: 1))
            #expect(recipe.kind == .other)
            recipe.title = "Stock"
            try store.update(recipe)
        }
        let kept = try await newer.find(MarkedRecipe.self, id: 1)
        #expect(kept?.kind == .soup && kept?.title == "Stock")
        try await older.save(TolerantRecipe(id: 1, title: "Stock", kind: .cake))
        #expect(try await newer.find(MarkedRecipe.self, id: 1)?.kind == .cake)
    }
}

private enum OptionalTags {
    struct Note: CoreModel, Equatable {
        let id: Int
        var tags: [String]?
        var counts: [String: Int]?
    }
}

private enum RequiredTags {
    struct Note: CoreModel, Equatable {
        let id: Int
        var tags: [String]
        var counts: [String: Int]
    }
}

private enum NarrowedTags {
    struct Note: CoreModel, Equatable {
        let id: Int
        var tags: [String]
        var counts: [String: Int]
        static var schema: Schema<Note> { Schema(.narrowed(\.tags), .narrowed(\.counts)) }
    }
}

/// A nested struct with lists that may be missing, and what a program makes of it whose lists are not optional.
private enum OptionalParts {
    struct Box: Codable, Equatable {
        var label: String
        var tags: [String]?
        var inner: Inner?
    }
    struct Inner: Codable, Equatable {
        var depth: Int
        var counts: [String: Int]?
    }
    struct Note: CoreModel, Equatable {
        let id: Int
        var box: Box
    }
}

private enum RequiredParts {
    struct Box: Codable, Equatable {
        var label: String
        var tags: [String]
        var inner: Inner?
    }
    struct Inner: Codable, Equatable {
        var depth: Int
        var counts: [String: Int]
    }
    struct Note: CoreModel, Equatable {
        let id: Int
        var box: Box
    }
}

private enum NarrowedParts {
    struct Note: CoreModel, Equatable {
        let id: Int
        var box: RequiredParts.Box
        static var schema: Schema<Note> { Schema(.narrowed(\.box.tags), .narrowed(\.box.inner?.counts)) }
    }
}

@Suite("A program whose lists are not optional")
struct RequiredListTests {
    private let folder: TestFolder
    private var place: StoreLocation { .file(folder.file("notes.sqlite")) }

    init() throws { folder = try TestFolder() }

    private func fill(_ notes: [OptionalTags.Note]) async throws {
        let manager = PersistenceManager(models: OptionalTags.Note.self, store: place)
        try await manager.save(notes)
        await manager.close()
    }

    @Test("does not open a store in which some are missing, until its schema takes empty ones for them")
    func missing() async throws {
        let notes = [
            OptionalTags.Note(id: 1, tags: nil, counts: [:]), OptionalTags.Note(id: 2, tags: nil, counts: ["a": 1]),
            OptionalTags.Note(id: 3, tags: ["x"], counts: nil),
        ]
        try await fill(notes)
        let error = await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: RequiredTags.Note.self, store: place).load()
        }
        #expect(error?.code == .wouldLose)
        #expect(error?.losses.map { "\($0.property ?? "") \($0.rows)" } == ["counts 1", "tags 2"])
        let same = PersistenceManager(models: OptionalTags.Note.self, store: place)
        #expect(try await same.fetch(OptionalTags.Note.self, sortedBy: .ascending(\.id)) == notes)
        await same.close()
        let narrowed = PersistenceManager(models: NarrowedTags.Note.self, store: place)
        #expect(
            try await narrowed.fetch(NarrowedTags.Note.self, sortedBy: .ascending(\.id)).map(\.tags) == [[], [], ["x"]])
    }

    @Test("opens one in which none is missing")
    func complete() async throws {
        try await fill([OptionalTags.Note(id: 1, tags: [], counts: ["a": 1])])
        let manager = PersistenceManager(models: RequiredTags.Note.self, store: place)
        #expect(try await manager.fetch(RequiredTags.Note.self) == [.init(id: 1, tags: [], counts: ["a": 1])])
    }

    @Test("nor one in which some within nested structs are missing; a nested struct that is missing has no list")
    func nested() async throws {
        let notes = [
            OptionalParts.Note(id: 1, box: .init(label: "l", tags: nil, inner: .init(depth: 1, counts: nil))),
            OptionalParts.Note(id: 2, box: .init(label: "m", tags: ["x"], inner: nil)),
            OptionalParts.Note(id: 3, box: .init(label: "n", tags: nil, inner: .init(depth: 2, counts: ["a": 1]))),
        ]
        let manager = PersistenceManager(models: OptionalParts.Note.self, store: place)
        try await manager.save(notes)
        await manager.close()
        let error = await #expect(throws: PersistenceError.self) {
            try await PersistenceManager(models: RequiredParts.Note.self, store: place).load()
        }
        #expect(error?.code == .wouldLose)
        #expect(
            error?.losses.map { "\($0.property ?? "") \($0.rows)" }.sorted() == ["box.inner.counts 1", "box.tags 2"])
        let same = PersistenceManager(models: OptionalParts.Note.self, store: place)
        #expect(try await same.fetch(OptionalParts.Note.self, sortedBy: .ascending(\.id)) == notes)
        await same.close()
        let narrowed = PersistenceManager(models: NarrowedParts.Note.self, store: place)
        let found = try await narrowed.fetch(NarrowedParts.Note.self, sortedBy: .ascending(\.id))
        #expect(found.map(\.box.tags) == [[], ["x"], []])
        #expect(found.map(\.box.inner?.counts) == [[:], nil, ["a": 1]])
    }
}
