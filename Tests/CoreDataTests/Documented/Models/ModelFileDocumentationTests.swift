import CoreData
import TestSupport
import Testing

@testable import CoreDataModel

/// Checks from the pages of `NSManagedObjectModel` and `NSManagedObjectModelReference`.
@Suite("Documented: models, their files and words")
struct ModelFileDocumentationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A bundle with a model of some entities.
    private func bundle(_ name: String, entities: String...) throws -> Bundle {
        let source = folder.file("\(name).xcdatamodeld")
        let version = source.appendingPathComponent("\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let elements = entities.map { "<entity name=\"\($0)\"/>" }.joined()
        let xml = "<model userDefinedModelVersionIdentifier=\"\(name)\">\(elements)</model>"
        try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
        try SourceModelCompiler.compileModel(at: source, to: url(name))
        return try #require(Bundle(path: url(name).deletingLastPathComponent().path))
    }

    private func url(_ name: String) -> URL {
        folder.file("\(name).bundle").appendingPathComponent("\(name).momd")
    }

    // MARK: Files

    @Test("init(contentsOf:): the model of a file, and nil where there is none")
    func file() throws {
        _ = try bundle("Shop", entities: "Item")
        #expect(NSManagedObjectModel(contentsOf: url("Shop"))?.entitiesByName.keys.sorted() == ["Item"])
        #expect(NSManagedObjectModel(contentsOf: folder.file("None.momd")) == nil)
    }

    @Test("mergedModel(from:): a model of all that the bundles have, with the version identifiers of all")
    func merged() throws {
        let bundles = [try bundle("Shop", entities: "Item"), try bundle("Stock", entities: "Shelf", "Box")]
        let model = try #require(NSManagedObjectModel.mergedModel(from: bundles))
        #expect(model.entitiesByName.keys.sorted() == ["Box", "Item", "Shelf"])
        #expect(model.versionIdentifiers == ["Shop", "Stock"])
    }

    @Test("mergedModel(from:forStoreMetadata:): the model that the store was made with; nil where none fits")
    func mergedForAStore() throws {
        let bundles = [try bundle("Shop", entities: "Item"), try bundle("Stock", entities: "Shelf")]
        let model = try #require(NSManagedObjectModel(contentsOf: url("Stock")))
        let store = folder.file("Store")
        _ = try Library.container(model, NSPersistentStoreDescription(url: store))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store)
        let found = NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata)
        #expect(found?.entitiesByName.keys.sorted() == ["Shelf"])
        #expect(NSManagedObjectModel.mergedModel(from: [bundles[0]], forStoreMetadata: metadata) == nil)
    }

    // MARK: Versions

    @Test("versionIdentifiers: none by default, for debugging only: models that differ in them alone are compatible")
    func identifiers() throws {
        let model = Notebook.model()
        #expect(model.versionIdentifiers.isEmpty)
        let hashes = model.entityVersionHashesByName
        model.versionIdentifiers = ["2.0", "beta"]
        #expect(model.versionIdentifiers == ["2.0", "beta"] && model.entityVersionHashesByName == hashes)
    }

    @Test("versionChecksum: the same for equal models, another for another version, in Base64")
    func checksum() {
        let (first, second) = (Notebook.model(), Notebook.model())
        #expect(first.versionChecksum == second.versionChecksum)
        #expect(Data(base64Encoded: first.versionChecksum) != nil)
        second.entitiesByName["Mark"]?.versionHashModifier = "2"
        #expect(first.versionChecksum != second.versionChecksum)
    }

    @Test("entityVersionHashesByName: the hash of each entity")
    func hashes() {
        let model = Notebook.model()
        #expect(model.entityVersionHashesByName == model.entitiesByName.mapValues(\.versionHash))
    }

    // MARK: Templates

    @Test("fetchRequestFromTemplate(withName:substitutionVariables:): a copy, with NSNull for nil; the template stays")
    func templates() throws {
        let model = Library.model()
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
        template.predicate = NSPredicate(format: "age == $AGE")
        model.setFetchRequestTemplate(template, forName: "byAge")
        let request = try #require(
            model.fetchRequestFromTemplate(withName: "byAge", substitutionVariables: ["AGE": NSNull()]))
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            context.make("Author", ["name": "A"])
            context.make("Author", ["name": "B", "age": 3])
            try context.save()
            let found = try context.fetch(request) as? [NSManagedObject]
            #expect(found?.map { $0.shown("name") } == ["A"])
        }
        #expect(model.fetchRequestTemplatesByName["byAge"]?.predicate == NSPredicate(format: "age == $AGE"))
    }

    @Test("setFetchRequestTemplate(_:forName:): nil takes a template away")
    func removingTemplates() {
        let model = Library.model()
        model.setFetchRequestTemplate(NSFetchRequest<any NSFetchRequestResult>(entityName: "Author"), forName: "all")
        model.setFetchRequestTemplate(nil, forName: "all")
        #expect(model.fetchRequestTemplatesByName.isEmpty)
    }

    // MARK: Words

    @Test("localizationDictionary: words for entities, properties and error strings, an entity's own words first")
    func localization() throws {
        let model = Diary.model()
        model.localizationDictionary = [
            "ErrorString/too short": "zu kurz", "Entity/Entry": "Eintrag", "Property/text": "Inhalt",
            "Property/text/Entity/Entry": "Text",
        ]
        #expect(model.localizationDictionary?["Entity/Entry"] == "Eintrag")
        model.entitiesByName["Entry"]?.attributesByName["text"]?.isOptional = false
        let context = try Library.inMemory(model).newBackgroundContext()
        context.performAndWait {
            let entry = context.make("Entry")
            let missing = #expect(throws: NSError.self) { try entry.validateForInsert() }
            #expect(missing?.localizedDescription.contains("Eintrag.Text") == true)
            entry.setValue("A", forKey: "text")
            let short = #expect(throws: NSError.self) { try entry.validateForInsert() }
            #expect(short?.localizedDescription == "zu kurz")
        }
    }

    @Test("localizationDictionary of a model in a file: <Name>Model.strings beside it, in the language's folder")
    func stringsFile() throws {
        try inTestFolder { folder in
            let file = folder.appendingPathComponent("Diary.mom")
            let document = try ModelDocument(Diary.model())
            try SourceModelCompiler.compiledData(of: document).write(to: file)
            #expect(NSManagedObjectModel(contentsOf: file)?.localizationDictionary == nil)
            func write(_ text: String, _ language: String?, _ encoding: String.Encoding) throws {
                let place = language.map { folder.appendingPathComponent("\($0).lproj") } ?? folder
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try #require(text.data(using: encoding)).write(to: place.appendingPathComponent("DiaryModel.strings"))
            }
            try write("/* Words */\n\"Entity/Entry\" = \"Note\";\n", nil, .utf8)
            let model = try #require(NSManagedObjectModel(contentsOf: file))
            #expect(model.localizationDictionary == ["Entity/Entry": "Note"])
            let merged = NSManagedObjectModel(byMerging: [model])
            #expect(merged?.localizationDictionary == ["Entity/Entry": "Note"])
            try write("\"Entity/Entry\" = \"Eintrag\";", "de", .utf16)
            func words(_ languages: String...) -> String? {
                ModelStrings.dictionary(beside: file, languages: languages)?["Entity/Entry"]
            }
            #expect(words("de") == "Eintrag")
            #expect(words("fr", "de-AT") == "Eintrag")
            #expect(words("de_CH") == "Eintrag")
            #expect(words("fr") == "Note")
            try write("\"Entity/Entry\" = \"Eintragl\";", "de_AT", .utf8)
            #expect(words("de-AT") == "Eintragl")
            try Data([0, 255, 0]).write(to: folder.appendingPathComponent("de.lproj/DiaryModel.strings"))
            #expect(words("de_CH") == "Note")
        }
        #expect(ModelStrings.preferredLanguages(["LANG": "de_AT.UTF-8"]).first == "de_AT")
        #expect(ModelStrings.preferredLanguages(["LANG": "de", "LC_ALL": "fr_FR@euro"]).first == "fr_FR")
        #expect(ModelStrings.preferredLanguages(["LANG": "C.UTF-8"]) == Locale.preferredLanguages)
    }

    @Test(
        "localizationDictionary has the words of Apple's folders: by script, by the names of Xcode 3, of the developers"
    )
    func stringsFolders() throws {
        try inTestFolder { folder in
            let resources = folder.appendingPathComponent("Resources")
            func words(_ language: String) -> String? {
                let file = resources.appendingPathComponent("Diary.mom")
                return ModelStrings.dictionary(beside: file, languages: [language])?["Entity/Entry"]
            }
            for name in ["zh-Hans", "zh-Hant", "no", "German"] {
                let place = resources.appendingPathComponent("\(name).lproj")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try Data("\"Entity/Entry\" = \"\(name)\";".utf8).write(
                    to: place.appendingPathComponent("DiaryModel.strings"))
            }
            #expect(["zh_CN", "zh_SG", "zh"].map(words) == ["zh-Hans", "zh-Hans", "zh-Hans"])
            #expect(["zh_TW", "zh-HK", "zh-Hant-MO"].map(words) == ["zh-Hant", "zh-Hant", "zh-Hant"])
            #expect(["nb_NO", "de_AT", "fr_FR"].map(words) == ["no", "German", nil])
            try PropertyListSerialization.data(
                fromPropertyList: ["CFBundleDevelopmentRegion": "de"], format: .xml, options: 0
            ).write(to: folder.appendingPathComponent("Info.plist"))
            #expect(words("fr_FR") == "German")
        }
    }

    // MARK: Models in use

    @Test("A model that a coordinator has cannot be changed: the program stops; a copy can be")
    func immutability() async {
        await #expect(processExitsWith: .failure) {
            let model = Notebook.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entitiesByName["Note"]?.name = "Other"
        }
        let model = Notebook.model()
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        let copy = model.copy() as? NSManagedObjectModel
        copy?.entitiesByName["Note"]?.name = "Other"
        #expect(copy?.entitiesByName["Other"] != nil && model.entitiesByName["Note"] != nil)
    }

    // MARK: References

    @Test("NSManagedObjectModelReference: a model, by itself, by file, by name in a bundle and by its entities' hashes")
    func references() throws {
        let bundle = try bundle("Shop", entities: "Item")
        let model = try #require(NSManagedObjectModel(contentsOf: url("Shop")))
        let checksum = model.versionChecksum
        let references = [
            NSManagedObjectModelReference(model: model, versionChecksum: checksum),
            NSManagedObjectModelReference(fileURL: url("Shop"), versionChecksum: checksum),
            NSManagedObjectModelReference(name: "Shop", in: bundle, versionChecksum: checksum),
            NSManagedObjectModelReference(
                entityVersionHashes: model.entityVersionHashesByName, in: bundle, versionChecksum: checksum),
        ]
        for reference in references {
            #expect(reference.resolvedModel == model && reference.versionChecksum == checksum)
        }
    }
}
