import CoreData
import SQLiteConnection
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Stores and models that cannot be read")
struct BadInputTests {
    private func expectFailure(_ run: CommandRun, _ message: String, sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect(run.status == 1, sourceLocation: sourceLocation)
        #expect(run.output.isEmpty, sourceLocation: sourceLocation)
        #expect(run.errors == "pippin: \(message)\n", sourceLocation: sourceLocation)
    }

    @Test("Files that are not a store are refused, and named")
    func noStore() throws {
        try inTestFolder { folder in
            let path = folder.appendingPathComponent("a.sqlite").path
            expectFailure(CommandRun("info", path), "“\(path)”: there is no such file")
            expectFailure(CommandRun("dump", folder.path), "“\(folder.path)” is a folder; a store expected")
            try Data().write(to: URL(fileURLWithPath: path))
            expectFailure(CommandRun("info", path), "“\(path)” is empty; a store expected")
            try Data("hello, this is a text".utf8).write(to: URL(fileURLWithPath: path))
            expectFailure(
                CommandRun("info", path),
                "“\(path)” is not a store: it begins neither with “SQLite format 3”, nor as an XML or binary store does"
            )
        }
    }

    @Test("A model, and a file of one, is not a store: the command that takes it is named")
    func model() throws {
        try inTestFolder { folder in
            let model = folder.appendingPathComponent("Shop.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            let elements = model.appendingPathComponent("elements")
            try Data("bplist00 of Xcode 3".utf8).write(to: elements)
            let contents = model.appendingPathComponent("contents")
            let source = "<model><entity name=\"Item\"/></model>"
            try Data("<?xml version=\"1.0\"?>\(source)".utf8).write(to: contents)
            let advice = "pippin model describe “\(model.path)” shows it, and the other commands take it with --model"
            for command in ["info", "dump", "check"] {
                for file in [elements, contents] {
                    expectFailure(
                        CommandRun(command, file.path),
                        "“\(file.path)” is part of the model “Shop.xcdatamodel”, and no store; \(advice)")
                }
                expectFailure(CommandRun(command, model.path), "“\(model.path)” is a model, and no store; \(advice)")
            }
            #expect(CommandRun("model", "describe", contents.path).output.contains("Item"))
        }
    }

    @Test("A mapping model is neither a store nor a model: the command that takes it is named")
    func mappingModel() throws {
        try inTestFolder { folder in
            let source = folder.appendingPathComponent("First.xcmappingmodel")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
            let compiled = folder.appendingPathComponent("First.cdm")
            try Data("bplist00 of a mapping model".utf8).write(to: compiled)
            let advice = "neither a store nor a model; pippin migrate takes it with --mapping"
            for command in [["info"], ["check"], ["model", "describe"]] {
                for path in [source.path, compiled.path] {
                    let run = CommandRun(arguments: command + [path])
                    expectFailure(run, "“\(path)” is a mapping model, and \(advice)")
                }
            }
        }
    }

    @Test("An SQLite database of another program is refused")
    func otherDatabase() throws {
        try inTestFolder { folder in
            let path = folder.appendingPathComponent("a.sqlite").path
            try Connection(path: path, mode: .create).execute("CREATE TABLE a (b)")
            expectFailure(
                CommandRun("info", path),
                "“\(path)” is an SQLite database but no Core Data store: it has no table Z_METADATA")
        }
    }

    @Test(
        "A store without a copy of its model is read with a source model that has its entities",
        .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func withoutCache() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { copy in
            try execute("DROP TABLE Z_MODELCACHE", in: copy)
            let run = CommandRun("info", copy.path, "--model", StoreFixtures.path("cars/SampleModel.xcdatamodeld"))
            #expect(run.status == 0)
            #expect(run.output.contains("Car   115 objects, 125 with subentities"))
        }
    }

    @Test("A store that is cut off at any page is refused", .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func truncated() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { copy in
            let whole = try Data(contentsOf: copy)
            for length in stride(from: 50, to: whole.count, by: 4096) {
                try whole.prefix(length).write(to: copy)
                let run = CommandRun("dump", copy.path)
                #expect(run.status == 1)
                #expect(run.errors.contains(copy.lastPathComponent))
            }
        }
    }

    @Test(
        "A model that does not fit, an unknown entity and a missing model are named",
        .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
    func wrongModel() {
        let store = StoreFixtures.path("cars/SampleModel_V1.sqlite")
        let wrong = CommandRun("info", store, "--model", StoreFixtures.path("users/SampleModel3.momd"))
        #expect(wrong.status == 1)
        #expect(
            wrong.errors.hasPrefix(
                "pippin: The model does not fit the store “SampleModel_V1.sqlite”: they differ in entities Car (only in the "
                    + "store), "))
        let source = CommandRun(
            "info", StoreFixtures.path("bookmarks/Bookmarks_V1.sqlite"), "--model",
            StoreFixtures.path("bookmarks/BookmarksModel.xcdatamodeld/BookmarksModel 2.xcdatamodel"))
        #expect(source.errors.contains("they differ in entity BookmarkEntity (different: url, uuid)."))
        expectFailure(
            CommandRun("dump", store, "--entity", "Boat"),
            "“\(store)” has no entity “Boat”; it has Car, SportCar, ExpensiveSportCar, Person")
        expectFailure(CommandRun("info", store, "--model", "/no.momd"), "“/no.momd”: there is no such file.")
    }
}
