import CoreData
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin migrate", .enabled(if: Fixtures.areThere, StoreFixtures.skipped))
struct MigrateTests {
    private let model = StoreFixtures.path("cars/SampleModel.momd")

    private func cars(_ store: URL) throws -> Int64? {
        try plainNumber("SELECT COUNT(*) FROM ZCAR", in: store)
    }

    @Test("A dry run shows what changes and the statements, and changes nothing")
    func dryRun() throws {
        try StoreFixtures.withCopy(of: "users/SampleModel3_V1.sqlite") { store in
            let before = try Data(contentsOf: store)
            let model = StoreFixtures.path("users/SampleModel3.momd")
            let run = CommandRun("migrate", store.path, "--to", model, "--version", "SampleModel3_v2", "--dry-run")
            #expect(run.status == 0)
            #expect(
                run.output.hasPrefix(
                    """
                    “SampleModel3_V1.sqlite” is migrated in place:
                    ~ entity User
                        + relationship pet
                    + entity Pet
                    Statements, in one transaction:
                    """))
            #expect(run.output.contains("ALTER TABLE ZUSER ADD COLUMN ZPET INTEGER;"))
            #expect(try Data(contentsOf: store) == before)
        }
    }

    @Test("Nothing is left beside a store that was only looked at", arguments: ["SampleModel2", "SampleModel"])
    func looking(version: String) throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { store in
            let run = CommandRun("migrate", store.path, "--to", model, "--version", version, "--dry-run")
            #expect(run.status == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
            #expect(files == ["SampleModel_V1.sqlite"])
        }
    }

    @Test("A store is migrated, and nothing lies beside it afterwards; a second run finds nothing to do")
    func migrates() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { store in
            let run = CommandRun("migrate", store.path, "--to", model, "--version", "SampleModel3")
            #expect(run.status == 0)
            #expect(run.output.hasSuffix("Done.\n"))
            #expect(try cars(store) == 125)
            let files = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
            #expect(files.allSatisfy { $0.hasPrefix("SampleModel_V1.sqlite") })
            let again = CommandRun("migrate", store.path, "--to", model, "--version", "SampleModel3")
            #expect(again.output == "“SampleModel_V1.sqlite” fits the model already; there is nothing to do.\n")
        }
    }

    @Test("A migration that fails leaves the store as it was, and no copy beside it")
    func fails() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { store in
            let first = CommandRun("migrate", store.path, "--to", model, "--version", "SampleModel2")
            #expect(first.status == 0)
            // The mapping model names a policy that this program does not have.
            let mapping = StoreFixtures.path("cars/V2toV3.cdm")
            let run = CommandRun(
                "migrate", store.path, "--to", model, "--version", "SampleModel3", "--mapping", mapping)
            #expect(run.status == 1)
            #expect(run.errors.contains("V2to3MakerPolicy"))
            #expect((run.output + run.errors).components(separatedBy: "The store is as it was.").count == 2)
            let count = try cars(store)
            #expect(count == 125)
            let files = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
            #expect(files.allSatisfy { $0.hasPrefix("SampleModel_V1.sqlite") })
        }
    }

    @Test("With a folder of mapping models, the store goes over the versions of the model")
    func chain() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { store in
            let folder = StoreFixtures.path("cars")
            // The mapping model from version 2 to 3 names a policy that this program does not have: told before
            // anything is done.
            let run = CommandRun(
                "migrate", store.path, "--to", model, "--version", "SampleModel3", "--mappings", folder)
            #expect(run.status == 1)
            #expect(run.errors.contains("V2to3MakerPolicy"))
            #expect(run.output.isEmpty)
            let second = CommandRun(
                "migrate", store.path, "--to", model, "--version", "SampleModel2", "--mappings", folder)
            #expect(
                second.output == """
                    “SampleModel_V1.sqlite” is migrated step by step:
                    1. “SampleModel” to “SampleModel2”, inferred
                    Step 1 of 1 …
                    Done.

                    """)
            let count = try cars(store)
            #expect(count == 125)
            let back = CommandRun(
                "migrate", store.path, "--to", model, "--version", "SampleModel", "--mappings", folder)
            #expect(back.status == 1)
            #expect(back.errors.contains("later than “SampleModel”"))
        }
    }

    @Test("A mapping model's source serves as its compiled form does")
    func mappingSource() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { store in
            #expect(CommandRun("migrate", store.path, "--to", model, "--version", "SampleModel2").status == 0)
            let plans = ["cdm", "xcmappingmodel"].map { form in
                let mapping = StoreFixtures.path("cars/V2toV3.\(form)")
                return CommandRun(
                    "migrate", store.path, "--to", model, "--version", "SampleModel3", "--mapping", mapping, "--dry-run"
                )
            }
            #expect(plans[0].status == 0)
            #expect(plans[0].output.contains("is migrated object by object"))
            #expect(plans[1].output == plans[0].output)
            #expect(plans[1].errors.isEmpty)
        }
    }

    /// A folder with nothing but the mapping model's source, in which a text is replaced.
    private func withSource(replacing text: String = "", with other: String = "", _ body: (String) throws -> Void)
        throws
    {
        try inTestFolder { folder in
            let source = folder.appendingPathComponent("V2toV3.xcmappingmodel")
            try FileManager.default.copyItem(at: Fixtures.url("cars/V2toV3.xcmappingmodel"), to: source)
            let file = source.appendingPathComponent("xcmapping.xml")
            var content = try String(contentsOf: file, encoding: .utf8)
            if !text.isEmpty { content = content.replacingOccurrences(of: text, with: other) }
            try Data(content.utf8).write(to: file)
            try body(folder.path)
        }
    }

    @Test("Sources in a folder of mapping models are followed; those for another model are passed over")
    func sourceFolder() throws {
        try StoreFixtures.withCopy(of: "cars/SampleModel_V1.sqlite") { store in
            func migrate(_ folder: String) -> CommandRun {
                CommandRun(
                    "migrate", store.path, "--to", model, "--version", "SampleModel3", "--mappings", folder, "--dry-run"
                )
            }
            let compiled = migrate(StoreFixtures.path("cars"))
            #expect(compiled.errors.contains("V2to3MakerPolicy"))
            try withSource { folder in #expect(migrate(folder).errors == compiled.errors) }
            try withSource(replacing: "SampleModel", with: "Other") { folder in
                let run = migrate(folder)
                #expect(!run.errors.contains("V2to3MakerPolicy"))
                #expect(!run.errors.contains("Other"))
            }
            try withSource(replacing: "SampleModel3.", with: "SampleModel9.") { folder in
                let run = migrate(folder)
                #expect(run.status == 1)
                #expect(run.errors.contains("SampleModel9.xcdatamodel”, is not a version of “SampleModel”"))
                #expect(run.errors.contains("xcmapping.xml"))
            }
        }
    }

    @Test("One mapping model and a folder of them are not taken together")
    func twoWays() {
        let run = CommandRun("migrate", "a.sqlite", "--to", model, "--mapping", "a.cdm", "--mappings", "b")
        #expect(run.status == 64)
        #expect(run.errors.contains("--mappings"))
    }

    @Test("What is missing is named")
    func missing() {
        #expect(CommandRun("migrate", "a.sqlite").errors.contains("--to MODEL"))
        #expect(CommandRun("migrate", "/nowhere/a.sqlite", "--to", model).errors.contains("/nowhere/a.sqlite"))
        for option in ["--mapping", "--mappings"] {
            let run = CommandRun("migrate", #filePath, "--to", model, option, "/nowhere/map")
            #expect(run.errors.contains("“/nowhere/map”"))
        }
    }
}
