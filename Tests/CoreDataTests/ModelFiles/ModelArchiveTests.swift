import CoreData
import ModelFiles
import Testing

@Suite("Model archives")
struct ModelArchiveTests {
    /// A model with one of everything that needs no predicate.
    static func everything() throws -> ModelDocument {
        let opaque = try KeyedArchiveFragment(
            {
                var builder = KeyedArchiveBuilder()
                let text = builder.string("default cover")
                let root = builder.add(classNames: ["App.Cover", "NSObject"], fields: ["text": text])
                return try builder.archive(root: root).root()
            }())
        var document = try SourceReaderTests.read(
            """
            <entity name="Base" isAbstract="YES"><attribute name="id" attributeType="UUID"/></entity>
            <entity name="Book" representedClassName="Volume" parentEntity="Base" versionHashModifier="m" elementID="Old">
                <attribute name="title" optional="YES" attributeType="String" defaultValueString="untitled" elementID="t"/>
                <attribute name="price" attributeType="Decimal" defaultValueString="12.345"/>
                <attribute name="date" attributeType="Date" defaultDateTimeInterval="1.5" preserveAfterDeletion="YES"/>
                <attribute name="site" optional="YES" attributeType="URI" defaultValueString="https://swift.org"
                    allowsCloudEncryption="YES" spotlightIndexingEnabled="YES"/>
                <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="place" optional="YES" attributeType="Composite">
                    <attribute name="x" attributeType="Double"/><attribute name="y" attributeType="Double"/>
                </attribute>
                <attribute name="cover" attributeType="Transformable" valueTransformerName="T"/>
                <relationship name="parts" optional="YES" toMany="YES" maxCount="4" ordered="YES"
                    destinationEntity="Book" inverseName="whole"/>
                <relationship name="whole" optional="YES" destinationEntity="Book" inverseName="parts"/>
                <fetchedProperty name="others"><fetchRequest name="f" entity="Book" fetchLimit="3"/></fetchedProperty>
                <fetchIndex name="byPrice"><fetchIndexElement property="price" type="RTree" order="descending"/></fetchIndex>
                <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <fetchRequest name="all" entity="Base" includeSubentities="NO" fetchBatchSize="20"/>
            <configuration name="C"><memberEntity name="Book"/></configuration>
            """)
        let position = try #require(document.entities[1].properties.firstIndex { $0.name == "cover" })
        guard var cover = document.entities[1].properties[position].attribute else { return document }
        cover.defaultValue = .archived(opaque)
        cover.valueClassName = "Cover"
        document.entities[1].properties[position].kind = .attribute(cover)
        document.entities[1].properties[position].userInfo = ["n": .integer(1), "list": .array([.boolean(true)])]
        return document
    }

    @Test("What is written is read back, in either form", arguments: [ModelArchiveWriter.Form.compiled, .cache])
    func roundTrip(form: ModelArchiveWriter.Form) throws {
        let document = try Self.everything()
        let data = try ModelArchiveWriter.archive(of: document, form: form).data()
        let read = try ModelArchiveReader.document(of: data)
        #expect(read.withImpliedIndexes.compiled == document.withImpliedIndexes.compiled)
    }

    @Test("Elements of composites, and what is meant for Spotlight and iCloud, have Apple's keys and bits")
    func applesKeys() throws {
        let objects = try ModelArchiveWriter.archive(of: Self.everything(), form: .compiled).objects
        let composite = try #require(objects.first { $0.dictionaryValue?["NSAttributeType"] == .integer(2100) })
        #expect(composite.dictionaryValue?["NSCompositeElements"] != nil)
        let site = try #require(
            objects.first { $0.dictionaryValue?["NSAllowsCloudEncryption"] == .boolean(true) }?.dictionaryValue)
        #expect(site["NSIndexedBySpotlight"] == .boolean(true))
        guard case .integer(let bits) = site["_P"] else { throw CocoaError(.fileReadCorruptFile) }
        #expect(bits & (1 << 8 | 1 << 11) == 1 << 8 | 1 << 11)
    }

    @Test("A model made of descriptions keeps everything, what has no class here included")
    func throughDescriptions() throws {
        let document = try Self.everything()
        let model = try ModelAssembler.model(document)
        #expect(try ModelDocument(model).compiled == document.withImpliedIndexes.compiled)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(try ModelDocument(copy).compiled == document.withImpliedIndexes.compiled)
    }

    @Test("A model cache is read with the store's version hashes, which a change makes void")
    func cacheHashes() throws {
        let model = try ModelAssembler.model(Self.everything())
        let hash = Data(repeating: 7, count: 32)
        let cache = try ModelCache.modelCacheData(for: model)
        let read = try ModelCache.model(fromModelCache: cache, entityVersionHashes: ["Base": hash, "Book": hash])
        #expect(read.entityVersionHashesByName == ["Base": hash, "Book": hash])
        read.entitiesByName["Base"]?.propertiesByName["id"]?.isOptional = true
        let changed = read.entityVersionHashesByName
        #expect(changed["Base"] != hash)
        // What inherits changes with it.
        #expect(changed["Book"] != hash)
    }

    @Test("Truncated archives are errors")
    func truncated() throws {
        let data = try ModelArchiveWriter.archive(of: Self.everything(), form: .compiled).data()
        for length in stride(from: 0, to: data.count, by: 7) {
            #expect(throws: (any Error).self) { try ModelArchiveReader.document(of: data.prefix(length)) }
        }
        let cache = try ModelCache.modelCacheData(for: ModelAssembler.model(Self.everything()))
        for length in stride(from: 0, to: cache.count, by: 11) {
            let error = #expect(throws: NSError.self) {
                try ModelCache.model(fromModelCache: cache.prefix(length), entityVersionHashes: [:])
            }
            #expect(error?.domain == NSCocoaErrorDomain)
        }
    }

    @Test("Archives with a changed byte are read as something or refused, and never trap")
    func damaged() throws {
        let data = try ModelArchiveWriter.archive(of: Self.everything(), form: .cache).data()
        var refused = 0
        for offset in stride(from: 0, to: data.count, by: 13) {
            for mask in [0x01, 0x10, 0xFF] as [UInt8] {
                var changed = data
                changed[changed.startIndex + offset] ^= mask
                do {
                    _ = try ModelAssembler.model(ModelArchiveReader.document(of: changed))
                } catch {
                    refused += 1
                }
            }
        }
        #expect(refused > 0)
    }

    @Test("Compressed data that inflate without end are refused")
    func inflationBomb() throws {
        let bomb = try RawDeflate.deflate(Data(count: 4 << 20))
        #expect(throws: ModelFileError.self) { try RawDeflate.inflate(bomb, limit: 1 << 20) }
        #expect(try RawDeflate.inflate(bomb).count == 4 << 20)
    }
}

@Suite("Hostile model archives")
struct HostileModelArchiveTests {
    @Test("An expression that doubles with every level is refused, not followed for ever")
    func exponentialExpression() throws {
        var document = try SourceReaderTests.read("<entity name=\"E\"/>")
        var request = FetchRequestDocument(entityName: "E")
        request.predicate = .comparison(ComparisonTree(.keyPath(["a"]), .equalTo, .constant(.integer(1))))
        document.fetchRequestTemplates["t"] = request
        var objects = try ModelArchiveWriter.archive(of: document, form: .compiled).objects
        // The left side becomes a sum of a sum of a sum …, each twice.
        let left = try #require(objects.firstIndex { $0.dictionaryValue?["NSExpressionType"] == .integer(3) })
        let utilities = UInt32(objects.count)
        objects.append(
            .dictionary([
                "$class": objects[left].dictionaryValue?["$class"] ?? .uid(0), "NSExpressionType": .integer(0),
                "NSConstantValueClassName": .uid(utilities + 1),
            ]))
        objects += [.string("_NSPredicateUtilities"), .string("add:to:")]
        let arrayClass = try #require(
            objects.firstIndex { $0.dictionaryValue?["$classname"] == .string("NSMutableArray") })
        var inner = objects[left].dictionaryValue ?? [:]
        for _ in 0..<90 {
            objects.append(.dictionary(inner))
            let copy = PropertyList.uid(UInt32(objects.count - 1))
            objects.append(
                .dictionary(["$class": .uid(UInt32(arrayClass)), "NS.objects": .array([copy, copy])]))
            inner["NSArguments"] = .uid(UInt32(objects.count - 1))
            inner["NSOperand"] = .uid(utilities)
            inner["NSSelectorName"] = .uid(utilities + 2)
            inner["NSExpressionType"] = .integer(4)
        }
        objects[left] = .dictionary(inner)
        let list = PropertyList.dictionary([
            "$objects": .array(objects), "$top": .dictionary(["root": .uid(1)]), "$version": .integer(100_000),
        ])
        let error = #expect(throws: KeyedArchiveError.self) {
            try ModelArchiveReader.document(of: KeyedArchive(propertyList: list))
        }
        #expect(error?.reason.hasPrefix("reading it takes more than") == true)
    }
}
