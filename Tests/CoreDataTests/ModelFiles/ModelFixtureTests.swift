import CoreData
import ModelFiles
import TestSupport
import Testing

@Suite("Apple's models", .enabled(if: Fixtures.areThere, ModelFixtures.skipped))
struct ModelFixtureTests {
    @Test("A compiled version says what its source says", arguments: ModelFixtures.compiledVersions)
    func compiledEqualsSource(entry: String) throws {
        let compiled = try ModelFixtures.package(entry)
        let source = try ModelFixtures.package(entry.replacingOccurrences(of: ".momd", with: ".xcdatamodeld"))
        let fromArchive = try compiled.package.document(version: compiled.version)
        let fromSource = try source.package.document(version: source.version)
        #expect(fromArchive.compiled == fromSource.compiled)
    }

    @Test(
        "Every source version assembles, and describes itself as it was read", arguments: ModelFixtures.sourceVersions)
    func sourceAssembles(entry: String) throws {
        let (package, version) = try ModelFixtures.package(entry)
        let document = try package.document(version: version)
        let model = try package.model(version: version)
        #expect(try ModelDocument(model).compiled == document.withImpliedIndexes.compiled)
    }

    @Test(
        "A store's model cache says what the model says that the store was made with",
        arguments: [
            ("cars/SampleModel_V1.sqlite", "cars/SampleModel.xcdatamodeld", "SampleModel"),
            ("users/SampleModel3_V1.sqlite", "users/SampleModel3.xcdatamodeld", "SampleModel3"),
            ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld", "BookmarksModel"),
            ("bookmarks/Bookmarks_V3.sqlite", "bookmarks/BookmarksModel.xcdatamodeld", "BookmarksModel 3"),
        ])
    func cacheEqualsSource(store: String, source: String, version: String) throws {
        let cache = try RawDeflate.inflate(ModelFixtures.modelCache(of: store))
        let cached = try ModelArchiveReader.document(of: cache)
        let document = try ModelPackage(at: Fixtures.url(source)).document(version: version)
        #expect(cached.compiled == document.withImpliedIndexes.compiled)
    }

    @Test("The model of every store's cache is a model to use", arguments: ModelFixtures.stores)
    func cacheAssembles(store: String) throws {
        let data = try ModelFixtures.modelCache(of: store)
        let model = try ModelCache.model(fromModelCache: data, entityVersionHashes: [:])
        #expect(try !model.compiledLayout().entities.isEmpty)
    }

    @Test(
        "A compiled version, written again, has Apple's keys, classes and values",
        arguments: ModelFixtures.compiledVersions)
    func compiledKeyForKey(entry: String) throws {
        let (package, version) = try ModelFixtures.package(entry)
        let file = try #require(package.versions.first { $0.name == version }).url
        let apple = try KeyedArchive(data: Data(contentsOf: file))
        let ours = try KeyedArchive(data: SourceModelCompiler.compiledData(of: package.model(version: version)))
        try expectEqual(ArchiveOutline.outline(of: ours), ArchiveOutline.outline(of: apple))
    }

    @Test("A model cache, written again, has Apple's keys, classes and values", arguments: ModelFixtures.stores)
    func cacheKeyForKey(store: String) throws {
        let data = try ModelFixtures.modelCache(of: store)
        let apple = try KeyedArchive(data: RawDeflate.inflate(data))
        let model = try ModelCache.model(fromModelCache: data, entityVersionHashes: [:])
        let ours = try KeyedArchive(data: RawDeflate.inflate(ModelCache.modelCacheData(for: model)))
        try expectEqual(ArchiveOutline.outline(of: ours), ArchiveOutline.outline(of: apple))
    }

    private func expectEqual(_ ours: [String: String], _ apple: [String: String]) throws {
        #expect(ours.keys.sorted() == apple.keys.sorted())
        for (name, fields) in apple.sorted(by: { $0.key < $1.key }) {
            let written = ours[name]
            #expect(written == fields, "\(name)")
        }
    }

    @Test("Version hashes are those that Xcode computed")
    func versionHashes() throws {
        let package = try ModelPackage(at: Fixtures.url("cars/SampleModel.momd"))
        #expect(try package.currentVersionName == "SampleModel")
        #expect(package.versions.map(\.name) == ["SampleModel", "SampleModel2", "SampleModel3"])
        let hash = try package.model(version: "SampleModel3").entityVersionHashesByName["Maker"]
        #expect(hash == package.info.versionHashes["SampleModel3"]?["Maker"])
        #expect(hash?.count == 32)
    }

    @Test("The checksum of a version is Xcode's, until the model is changed")
    func versionChecksum() throws {
        let url = Fixtures.url("users/SampleModel3.momd")
        let model = try #require(NSManagedObjectModel(contentsOf: url))
        #expect(model.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
        model.entities.first?.versionHashModifier = "2"
        #expect(model.versionChecksum != "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
    }

    @Test("NSManagedObjectModel(contentsOf:) reads a package, one of its versions, and a source model")
    func contentsOf() throws {
        for path in ["cars/SampleModel.momd", "cars/SampleModel.momd/SampleModel.mom", "cars/SampleModel.xcdatamodeld"]
        {
            let model = try #require(NSManagedObjectModel(contentsOf: Fixtures.url(path)))
            #expect(model.entitiesByName.keys.sorted() == ["Car", "ExpensiveSportCar", "Person", "SportCar"])
            let sportCar = try #require(model.entitiesByName["SportCar"])
            #expect(sportCar.superentity?.name == "Car")
            #expect(sportCar.propertiesByName["numberPlate"]?.entity.name == "Car")
            let owner = try #require(sportCar.relationshipsByName["owner"])
            #expect(owner.destinationEntity === model.entitiesByName["Person"])
            #expect(owner.inverseRelationship === model.entitiesByName["Person"]?.relationshipsByName["cars"])
        }
        #expect(NSManagedObjectModel(contentsOf: Fixtures.url("cars/nothing.momd")) == nil)
    }

    @Test("A compiled source model is read with the hashes that the compiler wrote")
    func compile() throws {
        try inTestFolder { folder in
            let source = Fixtures.url("bookmarks/BookmarksModel.xcdatamodeld")
            let destination = folder.appendingPathComponent("Bookmarks.momd")
            try SourceModelCompiler.compileModel(at: source, to: destination)
            let package = try ModelPackage(at: destination)
            #expect(package.versions.count == 6)
            for version in package.versions {
                let compiled = try package.document(version: version.name).compiled
                #expect(try compiled == ModelPackage(at: source).document(version: version.name).compiled)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Bookmarks.momd"])
        }
    }
}
