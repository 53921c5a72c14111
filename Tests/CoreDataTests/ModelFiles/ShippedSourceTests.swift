import CodeGeneration
import CoreData
import SQLiteEngine
import TestSupport
import Testing

@Suite("Source models as shipping apps have them")
struct ShippedSourceTests {
    private func defaultValue(_ type: String, _ text: String) throws -> ModelValue? {
        let xml = "<entity name='E'><attribute name='x' attributeType='\(type)' defaultValueString='\(text)'/></entity>"
        return try SourceReaderTests.read(xml).entities[0].properties[0].attribute?.defaultValue
    }

    @Test(
        "YES and NO are 1 and 0 where an attribute is a number now",
        arguments: ["Integer 16", "Integer 32", "Integer 64"])
    func integers(type: String) throws {
        for yes in ["YES", "yes", "true"] { #expect(try defaultValue(type, yes) == .integer(1)) }
        for no in ["NO", "no", "false"] { #expect(try defaultValue(type, no) == .integer(0)) }
        #expect(throws: ModelFileError.self) { try defaultValue(type, "MAYBE") }
    }

    @Test("The same goes for other numbers, and booleans are written in any way")
    func others() throws {
        #expect(try defaultValue("Double", "YES") == .double(1))
        #expect(try defaultValue("Float", "NO") == .double(0))
        #expect(try defaultValue("Decimal", "YES") == .decimal(1))
        #expect(try defaultValue("Boolean", "Yes") == .boolean(true))
        #expect(try defaultValue("Boolean", "FALSE") == .boolean(false))
        #expect(try defaultValue("Boolean", "0.0") == .boolean(false))
        #expect(try defaultValue("Boolean", "1.0") == .boolean(true))
    }

    @Test("A default that is not a valid UUID is left out, with a warning and its line (Trio)")
    func defaultUUID() throws {
        #expect(try defaultValue("UUID", "empty") == nil)
        let id = UUID()
        #expect(try defaultValue("UUID", id.uuidString) == .uuid(id))
        let source = """
            <model><entity name="A">
            <attribute name="id" attributeType="UUID" defaultValueString="empty"/>
            <attribute name="other" attributeType="UUID" defaultValueString=""/>
            </entity></model>
            """
        #expect(
            try SourceReader.warnings(of: Data(source.utf8)).map(\.text) == [
                "line 2, entity “A”, property “id”: defaultValueString is “empty”; a UUID expected. The attribute has no "
                    + "default"
            ])
    }

    @Test("A default of a date that cannot be read is not a default, and a warning (MIT Mobile)")
    func defaultDate() throws {
        #expect(try defaultValue("Date", "12/08/2009") == nil)
        #expect(try defaultValue("Date", "NO") == nil)
        #expect(try defaultValue("Date", "2001-01-02") == .date(Date(timeIntervalSinceReferenceDate: 86400)))
        let source = """
            <model><entity name="A">
            <attribute name="read" attributeType="Date" defaultValueString="12/08/2009" defaultDateTimeInterval="1"/>
            <attribute name="x" attributeType="Date" defaultValueString="12/08/2009"/>
            </entity></model>
            """
        #expect(
            try SourceReader.warnings(of: Data(source.utf8)).map(\.text) == [
                "line 3, entity “A”, property “x”: defaultValueString is “12/08/2009”; a date expected. The attribute has "
                    + "no default"
            ])
    }

    @Test("Requests for object IDs leave values out, and those for dictionaries pending changes (SwiftGen)")
    func impliedByResultType() throws {
        let xml = """
            <entity name="A"/>
            <fetchRequest name="dictionaries" entity="A" resultType="2"/>
            <fetchRequest name="explicit" entity="A" resultType="2" includesPendingChanges="YES"/>
            <fetchRequest name="ids" entity="A" resultType="1"/>
            <fetchRequest name="objects" entity="A"/>
            """
        let document = try SourceReaderTests.read(xml)
        let flags = document.fetchRequestTemplates.mapValues { [$0.includesPropertyValues, $0.includesPendingChanges] }
        #expect(
            flags == [
                "dictionaries": [true, false], "explicit": [true, true], "ids": [false, true], "objects": [true, true],
            ])
        let written = try SourceWriter.contents(of: document)
        #expect(written.contains(#"<fetchRequest name="dictionaries" entity="A" resultType="2"/>"#))
        #expect(written.contains(#"<fetchRequest name="ids" entity="A" resultType="1"/>"#))
        let again = try SourceReader.document(of: Data(written.utf8))
        #expect(again.fetchRequestTemplates == document.fetchRequestTemplates)
    }

    @Test("A relationship whose inverse is that of another is kept by itself (Artsy Folio)")
    func inverseOfAnother() throws {
        for count in ["maxCount='1'", "toMany='YES'"] {
            try inTestFolder { folder in
                let source = """
                    <model>
                    <entity name="Artist">
                    <relationship name="cover" optional="YES" maxCount="1" destinationEntity="Image" inverseName="coverOf"/>
                    </entity>
                    <entity name="Image">
                    <relationship name="artist" optional="YES" \(count) destinationEntity="Artist" inverseName="cover"/>
                    <relationship name="coverOf" optional="YES" maxCount="1" destinationEntity="Artist" inverseName="cover"/>
                    </entity>
                    </model>
                    """
                let document = try SourceReader.document(of: Data(source.utf8))
                let model = try ModelAssembler.model(document)
                let compiled = folder.appendingPathComponent("Art.mom")
                try SourceModelCompiler.compiledData(of: document).write(to: compiled)
                #expect(NSManagedObjectModel(contentsOf: compiled) == model)
                let relationship = model.entitiesByName["Image"]?.relationshipsByName["artist"]
                #expect(relationship?.inverseRelationship?.name == "cover")

                func inStore(_ body: (NSManagedObjectContext) throws -> Void) throws {
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                    let store = try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil,
                        at: folder.appendingPathComponent("Art.sqlite"))
                    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    context.persistentStoreCoordinator = coordinator
                    try context.performAndWait { try body(context) }
                    try coordinator.remove(store)
                }
                func artists(_ image: NSManagedObject) -> [NSManagedObject] {
                    let value = image.value(forKey: "artist")
                    if let objects = value as? Set<NSManagedObject> { return Array(objects) }
                    return (value as? NSManagedObject).map { [$0] } ?? []
                }
                try inStore { context in
                    let artist = NSEntityDescription.insertNewObject(forEntityName: "Artist", into: context)
                    let cover = NSEntityDescription.insertNewObject(forEntityName: "Image", into: context)
                    let image = NSEntityDescription.insertNewObject(forEntityName: "Image", into: context)
                    artist.setValue(cover, forKey: "cover")
                    image.setValue(count.hasPrefix("max") ? artist : NSSet(object: artist), forKey: "artist")
                    #expect(artist.value(forKey: "cover") as? NSManagedObject === cover)
                    try context.save()
                }
                try inStore { context in
                    let images = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Image"))
                    let cover = try #require(images.first { $0.value(forKey: "coverOf") != nil })
                    let image = try #require(images.first { $0 !== cover })
                    #expect(artists(cover).isEmpty)
                    #expect(artists(image) == [cover.value(forKey: "coverOf") as? NSManagedObject])
                }
            }
        }
    }

    @Test("A model equals what was compiled of it, in whatever order it lists its indexes (Stream Chat)")
    func indexesInAnyOrder() throws {
        try inTestFolder { folder in
            let package = folder.appendingPathComponent("Shop.xcdatamodeld")
            let indexes = ["z", "a"].map {
                "<fetchIndex name='\($0)'><fetchIndexElement property='\($0)' type='Binary' order='ascending'/></fetchIndex>"
            }
            let attributes = ["z", "a"].map { "<attribute name='\($0)' optional='YES' attributeType='String'/>" }
            let xml = "<model><entity name='A'>\((attributes + indexes).joined())</entity></model>"
            try write(xml, version: "Shop", of: package)
            let compiled = package.deletingPathExtension().appendingPathExtension("momd")
            _ = try SourceModelCompiler.compileModel(at: package, to: compiled)
            let source = try #require(NSManagedObjectModel(contentsOf: package))
            #expect(source == NSManagedObjectModel(contentsOf: compiled))
            let other = try #require(source.copy() as? NSManagedObjectModel)
            other.entities[0].indexes.removeLast()
            #expect(source != other)
        }
    }

    private static let odd = """
        <model>
        <entity name="A" syncable="sometimes" codeGenerationType="swift">
            <attribute name="x" attributeType="String" usesScalarValueType="maybe"/>
            <relationship name="r" optional="YES" maxCount="1" destinationEntity="A" syncable="never" storedInTruthFile="-"/>
        </entity>
        <entity name="B" codeGenerationType="none"/>
        </model>
        """

    @Test("What means nothing to a store is a warning with its line, and no error")
    func warnings() throws {
        let document = try SourceReader.document(of: Data(Self.odd.utf8))
        #expect(document.entities.map(\.codeGeneration) == [.none, .none])
        #expect(document.entities[0].properties.count == 2)
        let warnings = try SourceReader.warnings(of: Data(Self.odd.utf8))
        #expect(
            warnings.map(\.text) == [
                "line 2, entity “A”: syncable is “sometimes”; YES or NO expected. It is taken for NO, and means nothing to a "
                    + "store",
                "line 2, entity “A”: codeGenerationType is “swift”; class, category or none expected. No code is generated "
                    + "for the entity",
                "line 3, entity “A”, property “x”: usesScalarValueType is “maybe”; YES or NO expected. It is taken for NO, "
                    + "and means nothing to a store",
                "line 4, entity “A”, property “r”: storedInTruthFile is “-”; YES or NO expected. It is taken for NO, and "
                    + "means nothing to a store",
                "line 4, entity “A”, property “r”: syncable is “never”; YES or NO expected. It is taken for NO, and means "
                    + "nothing to a store",
            ])
    }

    /// A package of three versions, the second of which is wrong.
    private func inPackage(_ body: (URL) throws -> Void) throws {
        try inTestFolder { folder in
            let package = folder.appendingPathComponent("Shop.xcdatamodeld")
            let versions = [
                ("Shop", "<model><entity name='A'/></model>"),
                ("Shop 2", "<model>\n<entity name='A' isAbstract='perhaps'/></model>"),
                ("Shop 3", "<model><entity name='A'/><entity name='B' codeGenerationType='x'/></model>"),
            ]
            for (name, xml) in versions { try write(xml, version: name, of: package) }
            try write(current: "Shop 3", of: package)
            try body(package)
        }
    }

    private func write(_ xml: String, version: String, of package: URL) throws {
        let folder = package.appendingPathComponent("\(version).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(xml.utf8).write(to: folder.appendingPathComponent("contents"))
    }

    private func write(current version: String, of package: URL) throws {
        let list = ["_XCCurrentVersionName": "\(version).xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            .write(to: package.appendingPathComponent(".xccurrentversion"))
    }

    @Test("A version that cannot be compiled is left out and named, and does not keep the others from it")
    func leftOut() throws {
        try inPackage { package in
            let compiled = package.deletingPathExtension().appendingPathExtension("momd")
            let remarks = try SourceModelCompiler.compileModel(at: package, to: compiled)
            #expect(try ModelPackage(at: compiled).versions.map(\.name) == ["Shop", "Shop 3"])
            try #require(remarks.count == 2)
            #expect(remarks[0].line == 2)
            #expect(remarks[0].file.path.hasSuffix("Shop 2.xcdatamodel/contents"))
            #expect(remarks[0].message.hasPrefix("the version “Shop 2” is left out of the compiled model: "))
            #expect(remarks[0].message.contains("isAbstract is “perhaps”; YES or NO expected"))
            #expect(remarks[1].message.contains("codeGenerationType is “x”"))
            // Migrations go over the versions that there are.
            let known = try KnownVersions(ModelPackage(at: package), mappingFolders: [])
            #expect(known.versions.map(\.name) == ["Shop", "Shop 3"])
            #expect(known.unread.map(\.name) == ["Shop 2"])
        }
    }

    @Test("The current version must compile")
    func current() throws {
        try inPackage { package in
            try write(current: "Shop 2", of: package)
            let compiled = package.deletingPathExtension().appendingPathExtension("momd")
            let error = #expect(throws: NSError.self) {
                try SourceModelCompiler.compileModel(at: package, to: compiled)
            }
            #expect(error?.userInfo["line"] as? Int == 2)
            #expect(!FileManager.default.fileExists(atPath: compiled.path))
        }
    }

    @Test("Where there is no .xccurrentversion, and no version is called as the package, the error says what to write")
    func missingCurrent() throws {
        try inPackage { package in
            try FileManager.default.removeItem(at: package.appendingPathComponent("Shop.xcdatamodel"))
            try FileManager.default.removeItem(at: package.appendingPathComponent(".xccurrentversion"))
            let read = try ModelPackage(at: package)
            #expect(try read.document(version: "Shop 3").entities.map(\.name) == ["A", "B"])
            let error = #expect(throws: NSError.self) { try read.document() }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("“_XCCurrentVersionName” is one of Shop 2, Shop 3, with “.xcdatamodel”"), "\(text)")
        }
    }

    @Test("A current version that does not exist is an error where it is asked for; the others can be read")
    func wrongCurrent() throws {
        try inPackage { package in
            try write(current: "Shop 4", of: package)
            let read = try ModelPackage(at: package)
            #expect(try read.document(version: "Shop 3").entities.map(\.name) == ["A", "B"])
            let compiled = package.deletingPathExtension().appendingPathExtension("momd")
            let error = #expect(throws: NSError.self) {
                try SourceModelCompiler.compileModel(at: package, to: compiled)
            }
            let text = "its current version, “Shop 4”, does not exist; there are Shop, Shop 2, Shop 3."
            #expect(error?.localizedDescription == "“\(package.path)”: \(text)")
            #expect(!FileManager.default.fileExists(atPath: compiled.path))
            // A damaged file is no reason to refuse the versions either.
            try Data("none".utf8).write(to: package.appendingPathComponent(".xccurrentversion"))
            #expect(try ModelPackage(at: package).document(version: "Shop").entities.map(\.name) == ["A"])
            #expect(throws: NSError.self) { try ModelPackage(at: package).document() }
        }
    }

    @Test("Files in which macOS keeps the attributes of others are not versions")
    func attributeFiles() throws {
        try inPackage { package in
            try Data([0, 5, 22, 7]).write(to: package.appendingPathComponent("._Shop 3.xcdatamodel"))
            #expect(try ModelPackage(at: package).versions.map(\.name) == ["Shop", "Shop 2", "Shop 3"])
        }
    }

    @Test("Where .xccurrentversion names no version, the current one is that which is called as the package")
    func unnamedCurrent() throws {
        try inPackage { package in
            try write(current: "Shop", of: package)
            try Data("<plist version=\"1.0\"><dict/></plist>".utf8).write(
                to: package.appendingPathComponent(".xccurrentversion"))
            #expect(try ModelPackage(at: package).currentVersionName == "Shop")
        }
    }
}
