import CoreData
import TestSupport
import Testing

@Suite("Merging models")
struct ModelMergingTests {
    private func model(_ names: String..., marked modifier: String = "") throws -> NSManagedObjectModel {
        let entities = names.map { "<entity name=\"\($0)\" versionHashModifier=\"\(modifier)\"/>" }
        return try ModelAssembler.model(SourceReaderTests.read(entities.joined()))
    }

    @Test("The merged model has the entities of all, and leaves the models as they were")
    func merge() throws {
        let (first, second) = (try model("A", "B"), try model("C"))
        let merged = try #require(NSManagedObjectModel(byMerging: [first, second]))
        #expect(merged.entitiesByName.keys.sorted() == ["A", "B", "C"])
        #expect(merged.entitiesByName["A"] !== first.entitiesByName["A"])
        #expect(first.entities.count == 2)
    }

    @Test("Two models with different entities of one name do not merge")
    func conflict() throws {
        #expect(NSManagedObjectModel(byMerging: [try model("A"), try model("A", marked: "2")]) == nil)
        #expect(NSManagedObjectModel(byMerging: []) == nil)
    }

    @Test("An entity that several models have alike is taken once, as where one model lies in several bundles")
    func sameEntity() throws {
        let model = Library.model()
        let merged = try #require(NSManagedObjectModel(byMerging: [model, try self.model("A"), Library.model()]))
        #expect(merged.entities.compactMap(\.name).sorted() == (["A"] + model.entities.compactMap(\.name)).sorted())
        #expect(merged.entitiesByName["Author"] == model.entitiesByName["Author"])
    }

    @Test("For a store's metadata, the versions are chosen that the store was made with")
    func forStore() throws {
        let (old, new, other) = (try model("A"), try model("A", marked: "2"), try model("B"))
        let hashes = old.entityVersionHashesByName.merging(other.entityVersionHashesByName) { first, _ in first }
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": hashes]
        let merged = try #require(NSManagedObjectModel(byMerging: [new, other, old], forStoreMetadata: metadata))
        #expect(merged.entityVersionHashesByName == hashes)
        #expect(merged.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(NSManagedObjectModel(byMerging: [new, other], forStoreMetadata: metadata) == nil)
        #expect(NSManagedObjectModel(byMerging: [old], forStoreMetadata: [:]) == nil)
    }

    @Test("Of two versions that fit a store, the one with all of its entities is taken as it is (WooCommerce)")
    func fullest() throws {
        func version(title: String, _ others: String = "") throws -> NSManagedObjectModel {
            let attribute = "<attribute name=\"title\" attributeType=\"String\" defaultValueString=\"\(title)\"/>"
            return try ModelAssembler.model(
                SourceReaderTests.read("<entity name=\"Note\">\(attribute)</entity>\(others)"))
        }
        let (old, new) = (try version(title: "Old"), try version(title: "New", "<entity name=\"Tag\"/>"))
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": new.entityVersionHashesByName]
        #expect(NSManagedObjectModel(byMerging: [old, new], forStoreMetadata: metadata) == new)
    }

    @Test("The model of a store that holds one of two configurations has that one's entities, and what is about them")
    func oneConfiguration() throws {
        let model = try ModelAssembler.model(
            SourceReaderTests.read(
                """
                <entity name="Note"><fetchedProperty name="tags"><fetchRequest name="f" entity="Tag"/></fetchedProperty>
                </entity><entity name="Tag"/>
                <configuration name="Notes"><memberEntity name="Note"/></configuration>
                <configuration name="Tags"><memberEntity name="Tag"/></configuration>
                <configuration name="All"><memberEntity name="Note"/><memberEntity name="Tag"/></configuration>
                <fetchRequest name="notes" entity="Note"/><fetchRequest name="tags" entity="Tag"/>
                """))
        let hashes = model.entityVersionHashesByName.filter { $0.key == "Note" }
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": hashes]
        let merged = try #require(NSManagedObjectModel(byMerging: [model, model], forStoreMetadata: metadata))
        #expect(merged.entities.map(\.name) == ["Note"])
        #expect(merged.configurations == ["All", "Notes"])
        #expect(merged.entities(forConfigurationName: "All")?.map(\.name) == ["Note"])
        #expect(merged.fetchRequestTemplatesByName.keys.sorted() == ["notes"])
        #expect(merged.entityVersionHashesByName == hashes)
    }
}

@Suite("Models of bundles")
struct BundleModelTests {
    @Test("The models of bundles are found and merged, for a store in the version that it has")
    func merged() throws {
        try inTestFolder { folder in
            let source = folder.appendingPathComponent("Shop.xcdatamodeld")
            for (name, entity) in [("Shop", "Old"), ("Shop 2", "New")] {
                let version = source.appendingPathComponent("\(name).xcdatamodel")
                try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
                let xml = "<model><entity name=\"\(entity)\"/></model>"
                try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
            }
            let bundleURL = folder.appendingPathComponent("Shop.resources")
            try SourceModelCompiler.compileModel(at: source, to: bundleURL.appendingPathComponent("Shop.momd"))
            let bundle = try #require(Bundle(url: bundleURL))
            let current = NSManagedObjectModel.mergedModel(from: [bundle])
            #expect(current?.entities.map(\.name) == ["Old"])
            let new = try ModelPackage(at: source).model(version: "Shop 2")
            let metadata = ["NSStoreModelVersionHashes": new.entityVersionHashesByName]
            let fitting = NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)
            #expect(fitting?.entities.map(\.name) == ["New"])
            #expect(NSManagedObjectModel.mergedModel(from: [])?.entities == [])
        }
    }
}

@Suite("Model packages")
struct ModelPackageTests {
    private func write(_ text: String, to url: URL) throws {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func model(_ entity: String) -> String { "<model><entity name=\"\(entity)\"/></model>" }

    @Test("A source package has all versions, and the current one that it names")
    func currentVersion() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("Shop.xcdatamodeld")
            try write(model("Old"), to: url.appendingPathComponent("Shop.xcdatamodel/contents"))
            try write(model("New"), to: url.appendingPathComponent("Shop 2.xcdatamodel/contents"))
            let current = """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0"><dict>
                <key>_XCCurrentVersionName</key><string>Shop 2.xcdatamodel</string></dict></plist>
                """
            try write(current, to: url.appendingPathComponent(".xccurrentversion"))
            let package = try ModelPackage(at: url)
            #expect(try package.currentVersionName == "Shop 2")
            #expect(try package.model().entities.map(\.name) == ["New"])
            #expect(try package.model(version: "Shop").entities.map(\.name) == ["Old"])

            let compiled = folder.appendingPathComponent("Shop.momd")
            try SourceModelCompiler.compileModel(at: url, to: compiled)
            #expect(NSManagedObjectModel(contentsOf: compiled)?.entities.map(\.name) == ["New"])
            // The hashes are ours, and must not pass for Apple's.
            let read = try ModelPackage(at: compiled)
            #expect(read.info.hashesAreOurs)
            #expect(read.info.versionHashes["Shop"]?.keys.sorted() == ["Old"])
            #expect(try read.model().entities.first?.recordedVersionHash == nil)
            let metadata = try ["NSStoreModelVersionHashes": package.model(version: "Shop").entityVersionHashesByName]
            let fitting = try ModelPackage(at: compiled).model(compatibleWith: metadata)
            #expect(fitting?.entities.map(\.name) == ["Old"])
        }
    }

    @Test("A compiled model is read under another extension, with its hashes")
    func otherExtension() throws {
        try inTestFolder { folder in
            let source = folder.appendingPathComponent("Shop.xcdatamodeld")
            let contents = source.appendingPathComponent("Shop.xcdatamodel/contents")
            try write("<model><entity name='Order'/></model>", to: contents)
            let compiled = folder.appendingPathComponent("Shop.momd_precompiled")
            try SourceModelCompiler.compileModel(at: source, to: folder.appendingPathComponent("Shop.momd"))
            try FileManager.default.moveItem(at: folder.appendingPathComponent("Shop.momd"), to: compiled)
            #expect(NSManagedObjectModel(contentsOf: compiled)?.entities.map(\.name) == ["Order"])
            #expect(try ModelPackage(at: compiled).info.versionHashes["Shop"]?.keys.sorted() == ["Order"])
        }
    }

    @Test("A package that is missing, empty or of another kind is refused, by name")
    func wrongPackages() throws {
        try inTestFolder { folder in
            let empty = folder.appendingPathComponent("Empty.momd")
            try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
            let text = folder.appendingPathComponent("a.txt")
            try write("x", to: text)
            let cases = [
                (folder.appendingPathComponent("No.momd"), 260, "there is no such file"),
                (empty, 259, "there is no .mom in it"),
                (text, 259, "its extension is “txt”; momd, mom, xcdatamodeld or xcdatamodel expected"),
            ]
            for (url, code, reason) in cases {
                let error = #expect(throws: NSError.self) { try ModelPackage(at: url) }
                #expect(error?.code == code)
                #expect(error?.localizedDescription == "“\(url.path)”: \(reason).")
            }
        }
    }

    @Test("A wrong source model is named with its file, line, entity and property")
    func wrongSource() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("Shop.xcdatamodel/contents")
            try write("<model>\n<entity name='A'>\n<attribute name='x' attributeType='Num'/></entity></model>", to: url)
            let error = #expect(throws: NSError.self) {
                try ModelPackage(at: url.deletingLastPathComponent()).model()
            }
            #expect(error?.code == 134_060)
            #expect(error?.userInfo[NSFilePathErrorKey] as? String == url.path)
            #expect(
                error?.localizedDescription.hasPrefix("“\(url.path)”, line 3, entity “A”, property “x”: “Num” is no")
                    == true)
        }
    }
}
